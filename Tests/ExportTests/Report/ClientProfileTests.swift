import Testing

@testable import Export

/// Tests of the properties of clients that a report collects.
@Suite struct ClientProfileTests {
    private let key = ClientKey(system: "s", client: "A")

    @Test func activeDaysAreSortedAndDistinct() {
        var days = ActiveDays()
        for day in [18_262, 4, -4, 18_263, 4] { days.insert(day) }
        #expect(days.days == [-4, 4, 18_262, 18_263])
        #expect(days.activeWeeks.map(\.firstDay) == [-10, 4, 18_260])
        var others = ActiveDays()
        for day in [5, 18_262] { others.insert(day) }
        days.formUnion(others)
        #expect(days.days == [-4, 4, 5, 18_262, 18_263])
    }

    @Test func tooManyWeeksAreDiscarded() {
        var days = ActiveDays()
        for week in 0..<ActiveDays.maxWeekCount { days.insert(week * 7) }
        #expect(days.activeWeeks.count == ActiveDays.maxWeekCount)
        var sum = ActiveDays()
        sum.insert(-7)
        sum.formUnion(days)
        #expect(sum.exceedsLimit && sum.days.isEmpty)
        days.formUnion(sum)
        #expect(days.exceedsLimit)
    }

    @Test func smallNumbers() {
        var numbers = SmallNumberSet()
        for number in [64, 0, 511, 64] { numbers.insert(number) }
        #expect(numbers.elements == [0, 64, 511])
    }

    @Test func latestValuesAreChosenByTime() {
        var latest = ClientProfile.Latest()
        #expect(latest.value == nil)
        latest.update(1, at: 20)
        latest.update(2, at: 10)
        latest.update(nil, at: 30)
        #expect(latest.value == 1)
        latest.update(3, at: 20)
        #expect(latest.value == 3)
    }

    @Test func profilesOfLaterPartsAreTranslated() throws {
        #expect(key == ClientKey(system: "s", client: "a"))
        let noIndices = TallyIndices(
            systems: [0], apps: [5], models: [], locales: [7], metrics: [nil, 9], events: [3, nil], searches: [nil, 4])
        var profiles = ClientProfiles()
        profiles.update(key, system: 0, isClient: true) { $0.app.update(1, at: 20) }
        var later = ClientProfiles()
        later.update(key, system: 0, isClient: true) { profile in
            profile.app.update(0, at: 10)
            profile.locale.update(0, at: 10)
            profile.metrics.insert(0)
            profile.metrics.insert(1)
            for kind in [0, 1] {
                profile.values.events.insert(kind)
                profile.values.searches.insert(kind)
            }
            profile.days.insert(3)
        }
        later.update(ClientKey(system: "s", client: nil), system: 0, isClient: false) { $0.locale.update(0, at: 1) }
        profiles.add(later, noIndices)
        let profile = try #require(profiles[key])
        #expect(profile.app.value == 1 && profile.locale.value == 7)
        #expect(profile.values.events.elements == [3] && profile.values.searches.elements == [4])
        #expect(profile.metrics.elements == [9] && profile.days.days == [3])
        #expect(profiles.clientCounts { $0.locale.value.map { [$0] } ?? [] } == [7: 1])
    }

    @Test func retention() throws {
        var profiles = ClientProfiles()
        let clients = [[0, 1, 7], [3, 14], [7, 14], [0, 7, 14], [10_000]]
        for (number, days) in clients.enumerated() {
            profiles.update(ClientKey(system: "s", client: "\(number)"), system: 0, isClient: true) { profile in
                for day in days { profile.days.insert(day) }
            }
        }
        let cohorts = try #require(RetentionCohorts.bySystem(profiles, minimumCount: 1)[0])
        #expect(cohorts.clientCount == 5)
        // The last client is active too late.
        #expect(cohorts.lastWeek == 2)
        #expect(cohorts.firstWeeks.map(\.week.number) == [0, 1])
        #expect(cohorts.firstWeeks.map { Array($0.counts.prefix(3)) } == [[3, 2, 2], [1, 1, 0]])
        // Three clients are active in each of the weeks 0 to 2, and then a fourth one in the weeks 0 and 1.
        let hiding = try #require(RetentionCohorts.bySystem(profiles, minimumCount: 4)[0])
        #expect(hiding.lastWeek == 0 && hiding.firstWeeks.isEmpty)
        profiles.update(ClientKey(system: "s", client: "fourth"), system: 0, isClient: true) { profile in
            for day in [0, 7] { profile.days.insert(day) }
        }
        let fewer = try #require(RetentionCohorts.bySystem(profiles, minimumCount: 4)[0])
        #expect(fewer.lastWeek == 1 && fewer.firstWeeks.map(\.week.number) == [0, 1])
    }
}
