#pragma once
// What the page of training runs adds to the style of verdicts. Hues stay apart for colour-blind readers (after Okabe
// and Ito), darker on light ground and lighter on dark.

namespace fp4proof::training_report {

inline constexpr const char* training_page_style = R"css(
:root{--hue0:#0072b2;--hue1:#cc4c02;--hue2:#008060;--hue3:#b5479a;--hue4:#b98100;--hue5:#3b9ede}
@media (prefers-color-scheme:dark){:root{--hue0:#5b9df0;--hue1:#ff7a45;--hue2:#2fc79a;--hue3:#e58fc6;--hue4:#f0b429;
--hue5:#8fd3ff}}
main{max-width:1280px}h1{font-size:26px;margin:8px 0 2px}h2{margin-top:44px}
h2+.about{margin-top:-8px}.about{color:var(--faint);font-size:14px;max-width:900px}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,480px),1fr));gap:16px}
.charts .card{margin:0;padding:16px 18px 12px;min-width:0}.charts .wide{grid-column:1/-1}.charts p{font-size:13px}
.chart{margin-top:6px;overflow:visible;width:100%}.wide .chart,.bars .chart{width:auto}
.chart text.curve{fill:currentColor;font-size:12px}.chart .mark{stroke:var(--faint)}
.curve{transition:opacity .15s}.curve polyline{stroke-linejoin:round;stroke-linecap:butt}
.curve:hover polyline{stroke-width:3.2}.point{opacity:0}.point:hover{opacity:1}
.swatch{vertical-align:middle;margin-right:7px}.swatch path{stroke:currentColor;stroke-width:3}
.legend{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:2px 4px;background:var(--card);
border:1px solid var(--line);border-radius:10px;padding:7px 10px;margin:22px 0 16px;font-size:13px;max-height:30vh;overflow:auto}
.legend label{display:flex;align-items:center;padding:2px 8px;border-radius:6px;cursor:pointer;white-space:nowrap}
.legend label:hover{background:var(--empty)}.legend input{margin:0 6px 0 0}.legend label:has(input:not(:checked)){opacity:.45}
.runs{width:100%;font-size:13.5px}.runs td,.runs th{white-space:nowrap;padding:4px 14px 4px 0}
.runs td:last-child,.runs th:last-child{padding-right:0}.runs td.folder{color:var(--faint);font-size:12.5px}
.meter{position:relative;display:inline-block;width:72px;height:10px;border-radius:5px;background:var(--empty);
margin-right:8px;vertical-align:middle;overflow:hidden}
.meter i{position:absolute;left:0;top:0;bottom:0;background:var(--info)}
.meter b{position:absolute;top:0;bottom:0;background:var(--ink);opacity:.45;min-width:2px}
.digest{font-size:13px}.same{color:var(--pass);font-weight:600}.other{color:var(--fail);font-weight:600}
.banner-list code{white-space:normal}
@media (max-width:640px){.charts .card{padding:12px 12px 8px}.legend{position:static;max-height:none}}
@media print{.legend{position:static}.charts .card{break-inside:avoid}}
)css";

}  // namespace fp4proof::training_report
