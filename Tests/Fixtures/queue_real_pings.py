#!/usr/bin/env python3
"""Queues pings with Mozilla's Glean SDK (`glean-sdk` on PyPI). The SDK cannot send them, because its server is a closed port.

    queue_real_pings.py FOLDER pings|tagged|deletion

Creates the data directory FOLDER. With `pings`, it contains pings of several types and pending events. With `tagged`, the pings
also have debug tags. With `deletion`, the queue contains only a deletion request.
"""

import os
import pathlib
import sys

from glean import Configuration, Glean, load_metrics, load_pings

PINGS = """
$schema: moz://mozilla.org/schemas/glean/pings/2-0-0
onboarding:
  description: A ping with everything.
  include_client_id: true
  send_if_empty: true
  bugs: [https://example.org]
  data_reviews: [https://example.org]
  notification_emails: [a@example.org]
anonymous:
  description: A ping without a client id.
  include_client_id: false
  send_if_empty: true
  bugs: [https://example.org]
  data_reviews: [https://example.org]
  notification_emails: [a@example.org]
bare:
  description: A ping without sections of information.
  include_client_id: false
  metadata:
    include_info_sections: false
  send_if_empty: true
  bugs: [https://example.org]
  data_reviews: [https://example.org]
  notification_emails: [a@example.org]
"""

COMMON = """
    description: A metric.
    bugs: [https://example.org]
    data_reviews: [https://example.org]
    notification_emails: [a@example.org]
    expires: never
    send_in_pings: [onboarding, anonymous, bare]
"""

TYPES = {
    "flag": "boolean", "count": "counter", "amount": "quantity", "word": "string", "words": "string_list", "id": "uuid",
    "moment": "datetime", "duration": "timespan", "by_label": "labeled_counter",
    "times": "timing_distribution", "sizes": "memory_distribution", "tap": "event",
}
# Additional lines of the definitions of some metrics.
MORE = {
    "moment": "    time_unit: millisecond\n", "duration": "    time_unit: millisecond\n",
    "times": "    time_unit: millisecond\n", "sizes": "    memory_unit: kilobyte\n", "amount": "    unit: pixel\n",
    "tap": "    extra_keys:\n      text:\n        description: Any text.\n        type: string\n",
}


def definitions(folder):
    """Returns the pings and metrics that the SDK defines from YAML files, which are written to `folder`."""
    metrics = "$schema: moz://mozilla.org/schemas/glean/metrics/2-0-0\napp:\n"
    for name, kind in TYPES.items():
        metrics += "  %s:\n    type: %s\n%s%s" % (name, kind, COMMON.lstrip("\n"), MORE.get(name, ""))
    (folder / "pings.yaml").write_text(PINGS)
    (folder / "metrics.yaml").write_text(metrics)
    return load_pings(folder / "pings.yaml"), load_metrics(folder / "metrics.yaml", config={"allow_reserved": False})


def record(app, number):
    """Records a value for each metric."""
    app.flag.set(number % 2 == 0)
    app.count.add(number + 1)
    app.amount.set(9007199254740993)
    app.word.set("Füße / 書 🦊 \" \\ \t")
    app.words.set(["a", "", "</script>", "\u2028"])
    app.id.generate_and_set()
    app.moment.set()
    app.duration.set_raw_nanos(1_234_567_890)
    app.by_label["one"].add(1)
    app.by_label["two"].add(2)
    app.sizes.accumulate(1 << number)
    app.times.accumulate_samples([1, 20, 300])
    app.tap.record(app.TapExtra(text="Größe %d" % number))


def main():
    folder, mode = pathlib.Path(sys.argv[1]), sys.argv[2]
    work = folder.parent / (folder.name + "-definitions")
    work.mkdir(parents=True)
    if mode == "tagged":
        os.environ["GLEAN_DEBUG_VIEW_TAG"] = "a-tag"
        os.environ["GLEAN_SOURCE_TAGS"] = "automation,perf"
    Glean.initialize(
        application_id="org.mozilla.ios.Firefox", application_version="146.0", application_build_id="59021",
        upload_enabled=True, data_dir=folder,
        configuration=Configuration(server_endpoint="http://127.0.0.1:1"))
    Glean.set_experiment_active("an-experiment", "a-branch", {"type": "a-type"})
    pings, metrics = definitions(work)
    for number in range(4):
        for name in ("onboarding", "anonymous", "bare"):
            record(metrics.app, number)
            getattr(pings, name).submit()
    if mode == "deletion":
        Glean.set_collection_enabled(False)
    else:
        record(metrics.app, 9)
    Glean.shutdown()
    # All pings are on disk. The threads of the SDK, which would repeat the uploads, must not delay the exit.
    os._exit(0)


if __name__ == "__main__":
    main()
