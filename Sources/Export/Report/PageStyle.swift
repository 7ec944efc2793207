/// The style sheet of a report.
///
/// Text has a contrast of at least 4.5:1 to its background, and the bars of charts have one of at least 3:1. The hues of
/// the bars can be distinguished by people with color vision deficiencies.
///
/// Source: "Web Content Accessibility Guidelines 2.2", success criteria 1.4.3 and 1.4.11; Okabe and Ito, "Color Universal
/// Design".
enum PageStyle {
    static let css: HTML = """
        :root{color-scheme:light dark;--bg:#fff;--fg:#1c2126;--soft:#5a646e;--line:#d9dee3;--card:#f4f6f8;--link:#0b5cad;
        --s0:#0072b2;--s1:#ba7b34;--s2:#247247;--s3:#a0468f;--s4:#2f9cbe;--s5:#810b08;--s6:#7e7e7e;--bar:9rem;--good:#00694d;--bad:#a33c00}
        @media screen and (prefers-color-scheme:dark){:root{--bg:#14181c;--fg:#e7ebef;--soft:#a3adb7;--line:#333b43;--card:#1d2329;--link:#7cb8f2;
        --s0:#3d9be0;--s1:#e1b415;--s2:#5cc695;--s3:#ae65a2;--s4:#a2d8e9;--s5:#e66d3a;--s6:#949ca8;--good:#5fd3ae;--bad:#ffa26b}}
        *{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%}
        body{margin:0 auto;max-width:62rem;padding:1.5rem 1.25rem 3rem;background:var(--bg);color:var(--fg);
        font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;overflow-wrap:anywhere}
        h1{font-size:1.8rem;line-height:1.2;margin:0 0 .75rem}
        h2{font-size:1.35rem;margin:0 0 .25rem}
        h2.small{font-size:1rem;margin:1.25rem 0 .25rem}
        h3{font-size:1.05rem;margin:1.5rem 0 .4rem}
        h4{font-size:.95rem;margin:1.1rem 0 .2rem}
        section{border-top:1px solid var(--line);margin-top:2.25rem;padding-top:1.5rem}
        a{color:var(--link)}
        code{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.875em}
        .lead,.aside,footer,.none,dt,li small{color:var(--soft)}
        .lead{margin:0 0 1rem;max-width:46rem}
        .aside,footer{font-size:.9rem;max-width:46rem}
        .verdict{border-left:.35rem solid var(--good);background:var(--card);padding:.7rem 1rem;margin:0 0 1.25rem;font-size:1.1rem}
        .verdict.bad{border-color:var(--bad)}
        .figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:0}
        .figures div{display:flex;flex-direction:column-reverse;justify-content:flex-end;background:var(--card);padding:.7rem .9rem;
        border-radius:.4rem}
        .figures dd{margin:0;font-size:1.55rem;font-weight:600;line-height:1.25;font-variant-numeric:tabular-nums;
        white-space:nowrap}
        .figures dt{font-size:.9rem;line-height:1.3}
        .inputs{margin:0;padding-left:1.2rem;columns:17rem}
        nav ul{display:flex;flex-wrap:wrap;gap:.35rem 1.2rem;list-style:none;margin:1.5rem 0 0;padding:0}
        figure{margin:0}
        figcaption h3{margin-bottom:.2rem}
        .legend{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;margin:.2rem 0 .5rem;padding:0;font-size:.9rem}
        svg{display:block}
        .key{display:inline-block;width:.8em;height:.8em;margin-right:.2em}
        .chart{width:100%;height:auto;overflow:visible}
        .chart text{fill:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}
        .chart .y{text-anchor:end}
        .chart .x{text-anchor:middle}
        .chart .first{text-anchor:start}.chart .last{text-anchor:end}
        .chart line{stroke:var(--line)}
        .chart .break{fill:var(--bg);stroke:var(--soft);stroke-dasharray:2 4}
        .chart .pause{text-anchor:middle;dominant-baseline:central}
        .share{width:100%;height:1.6rem}
        .bar{display:inline-block;width:var(--bar);height:.7rem;margin-left:.6rem}
        .hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
        .s0{fill:var(--s0)}.s1{fill:var(--s1)}.s2{fill:var(--s2)}.s3{fill:var(--s3)}.s4{fill:var(--s4)}.s5{fill:var(--s5)}
        .s6{fill:var(--s6)}
        [class^=heat]{display:block;margin:-.2rem -.3rem;padding:.2rem .3rem}
        .heat1{background:color-mix(in srgb,var(--s0) 10%,transparent)}.heat2{background:color-mix(in srgb,var(--s0) 20%,transparent)}
        .heat3{background:color-mix(in srgb,var(--s0) 30%,transparent)}.heat4{background:color-mix(in srgb,var(--s0) 40%,transparent)}
        .wide{position:relative;overflow-x:auto;margin:.25rem 0 .5rem}
        table{border-collapse:collapse;width:100%;font-size:.93rem}
        th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line)}
        thead th{font-weight:600;white-space:nowrap;overflow-wrap:normal}
        td,tbody th{overflow-wrap:break-word}
        tbody th{font-weight:400}
        td.n,th.n{text-align:right;padding-right:1.5rem;font-variant-numeric:tabular-nums;white-space:nowrap}
        th.bars{padding-right:calc(var(--bar) + 2.1rem)}
        .n:last-child{padding-right:.5rem}.bars:last-child{padding-right:calc(var(--bar) + 1.1rem)}
        .app th:first-child{width:34%}.app th:nth-child(2){width:40%}
        .cohorts table{width:auto}.cohorts .n{min-width:4rem;padding-right:.6rem}
        .day,code[title],tbody th:not(:has(*)){white-space:nowrap}
        .places{margin:0;padding-left:1rem;min-width:16rem}
        summary{cursor:pointer;color:var(--link)}
        footer{border-top:1px solid var(--line);margin-top:2.5rem;padding-top:1rem}
        @media(max-width:40rem){body{padding:1rem .9rem 2rem}:root{--bar:4rem}.chart text{font-size:24px}
        .chart .second{display:none}td.n,th.n,th,td{padding-right:.6rem}td:not(.n),tbody th:not(:has(code)){min-width:7rem}}
        @media screen{.paper{display:none}}
        @media print{:root{color-scheme:light;--fg:#000;--soft:#444;--line:#bbb;--card:#fff;--link:#000;--bar:4rem;font-size:9pt}
        @page{size:A4;margin:12mm}
        .inputs:not(:has(code)){columns:11rem;font-size:8pt}
        body{max-width:none;padding:0;line-height:1.35}nav,details,.screen{display:none}
        .wide{overflow:visible}figure,tr,p,.wide{break-inside:avoid}#wrong .wide{break-inside:auto}
        h2,h3,h4,.lead,.legend{break-after:avoid}.aside,footer{break-before:avoid}
        section{margin-top:1.2rem;padding-top:.8rem}footer{margin-top:1rem;padding:0}
        p{margin:.6rem 0}h3{margin-top:.9rem}.chart{max-width:17cm}
        .lead,.aside,footer{max-width:none}.figures{grid-template-columns:repeat(5,1fr)}
        table{font-size:8pt}th,td{padding:.1rem .5rem .1rem 0}.places{min-width:0}
        .cohorts .n{min-width:3.4rem;padding-right:.5rem}
        [class^=heat]{margin:0;padding:0 .2rem}[class^=heat] small{display:block}
        td,tbody th,#go code,#wrong th bdi{overflow-wrap:break-word}bdi,.places{overflow-wrap:anywhere}
        thead th{white-space:normal}tbody tr:nth-child(n+\(HTMLTable.printedRowCount + 1)){display:none}
        code[title]{overflow-wrap:normal}
        *{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
        """
}
