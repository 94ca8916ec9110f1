"""The page's style: light and dark by the reader's own setting or choice, and for paper."""

STYLE = """
:root{--bg:#fff;--fg:#1c2024;--soft:#60666d;--line:#d8dce1;--card:#f6f7f9;--link:#0b5bd3;
--p:#15703a;--pb:#dff3e4;--f:#b3261e;--fb:#fbe1df;--u:#8a5a00;--ub:#fdf0d0;--s:#5b6570;--sb:#eceff2;--mark:#0b5bd3}
@media(prefers-color-scheme:dark){:root:not([data-theme=light]){--bg:#14171a;--fg:#e7eaed;--soft:#a0a8b0;--line:#343a40;
--card:#1d2125;--link:#7fb2ff;--p:#7bd69a;--pb:#173423;--f:#ff9d94;--fb:#47201d;--u:#f2c46d;--ub:#3d3013;--s:#a9b2bb;
--sb:#282d32;--mark:#7fb2ff}}
:root[data-theme=dark]{--bg:#14171a;--fg:#e7eaed;--soft:#a0a8b0;--line:#343a40;--card:#1d2125;--link:#7fb2ff;
--p:#7bd69a;--pb:#173423;--f:#ff9d94;--fb:#47201d;--u:#f2c46d;--ub:#3d3013;--s:#a9b2bb;--sb:#282d32;--mark:#7fb2ff}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1.2rem;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:2rem 0 .6rem;border-bottom:1px solid var(--line)}
a{color:var(--link)}p{margin:.5rem 0}code,pre,td.raw{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.85em}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--card);padding:.6rem;border-radius:6px;margin:.3rem 0}
nav{display:flex;flex-wrap:wrap;gap:.9rem;margin:.6rem 0}
button,input,select{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:6px;
padding:.2rem .6rem}
:focus-visible{outline:3px solid var(--mark);outline-offset:1px}
.banner{padding:.5rem .8rem;border-radius:6px;background:var(--ub);color:var(--u);font-weight:600}
.verdict{display:flex;gap:1rem;align-items:flex-start;padding:1rem;border-radius:8px;border-left:8px solid}
.verdict.p{background:var(--pb);border-color:var(--p)}.verdict.f{background:var(--fb);border-color:var(--f)}
.verdict.u{background:var(--ub);border-color:var(--u)}.verdict.s{background:var(--sb);border-color:var(--s)}
.verdict .word{font-size:1.7rem;font-weight:700;white-space:nowrap}
.p .word{color:var(--p)}.f .word{color:var(--f)}.u .word{color:var(--u)}.s .word{color:var(--s)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:.8rem;margin:.8rem 0}
.card{background:var(--card);border-radius:8px;padding:.7rem .9rem}.card h3{margin:0 0 .2rem;font-size:.95rem}
.soft{color:var(--soft)}
.badge{display:inline-block;padding:0 .45rem;border-radius:1rem;font-weight:600;font-size:.85em;white-space:nowrap}
.badge.p{background:var(--pb);color:var(--p)}.badge.f{background:var(--fb);color:var(--f)}
.badge.u{background:var(--ub);color:var(--u)}.badge.s{background:var(--sb);color:var(--s)}
.sign{font-weight:700;margin-right:.3rem}.sign.p{color:var(--p)}.sign.f{color:var(--f)}.sign.u{color:var(--u)}
.sign.s{color:var(--s)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92em}caption{text-align:left;color:var(--soft);padding:.2rem 0}
th,td{text-align:left;padding:.2rem .5rem;border-bottom:1px solid var(--line);vertical-align:top}
thead th{position:sticky;top:0;background:var(--bg);z-index:1}
table.matrix{width:auto}table.matrix td{white-space:nowrap;border:1px solid var(--line)}
td.p{background:var(--pb)}td.f{background:var(--fb)}td.u{background:var(--ub)}td.s{background:var(--sb)}
td.none{color:var(--soft);text-align:center}.rate{font-variant-numeric:tabular-nums}
th.number,td.number{text-align:right;font-variant-numeric:tabular-nums}
ul.culprits{padding-left:1.1rem}ul.culprits li{margin:.3rem 0}
figure{margin:0;max-width:46rem}figcaption{font-weight:600;margin:.3rem 0}
.figures,.maps{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1rem}
.maps{grid-template-columns:repeat(auto-fit,minmax(15rem,1fr))}
canvas.map{width:100%;image-rendering:pixelated;border:1px solid var(--line);border-radius:4px;cursor:crosshair}
#pointed{min-height:1.6em;font-weight:600}
svg{width:100%;height:auto}svg text{fill:var(--fg);font:13px system-ui,sans-serif}
svg .small{font-size:11px;fill:var(--soft)}svg .name{font-weight:600}svg .label{font-size:12px;text-anchor:middle}
svg .end{text-anchor:end}svg .middle-text{text-anchor:middle}
svg .bad{fill:var(--f)}svg .box{fill:var(--card);stroke:var(--line)}svg .box.gpu{stroke:var(--p)}
svg .box.nic{stroke:var(--link)}svg .wire{stroke-width:3}svg .wire.near{stroke:var(--p)}
svg .wire.far{stroke:var(--u);stroke-dasharray:6 4}svg .wire.bad{stroke:var(--f);stroke-dasharray:2 4}
svg .grid{stroke:var(--line)}svg .band{fill:var(--link);opacity:.18}svg .middle{fill:none;stroke:var(--link);stroke-width:2}
svg .dot{fill:var(--link)}svg .floor{fill:none;stroke:var(--f);stroke-width:2;stroke-dasharray:6 4}
details{margin:.3rem 0}summary{cursor:pointer}
@media screen{#places,#witnesses,#all-cells,#raw{content-visibility:auto;contain-intrinsic-size:auto 60rem}}
.tools{display:flex;flex-wrap:wrap;gap:.6rem;align-items:center;margin:.5rem 0}
@media print{:root:root,:root[data-theme=dark]{--bg:#fff;--fg:#000;--soft:#444;--line:#d8dce1;--card:#f6f7f9;--link:#0b5bd3;
--p:#15703a;--pb:#dff3e4;--f:#b3261e;--fb:#fbe1df;--u:#8a5a00;--ub:#fdf0d0;--s:#5b6570;--sb:#eceff2;--mark:#0b5bd3}
body{max-width:none;padding:0;font-size:11px}
.screen,nav,.tools{display:none!important}details>summary{font-weight:600}thead th{position:static}
.card,.verdict,td,.badge{print-color-adjust:exact;-webkit-print-color-adjust:exact}h2{break-after:avoid}tr{break-inside:avoid}}
@media(prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
"""
