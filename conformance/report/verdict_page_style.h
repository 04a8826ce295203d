#pragma once
// How the page of a verdict looks. Colours are variables, so that dark is another set of them.

namespace fp4proof::report {

inline constexpr const char* verdict_page_style = R"css(
:root{color-scheme:light dark;--ground:#f4f6f8;--card:#fff;--ink:#1b1f24;--faint:#57606a;--line:#d8dee4;--empty:#eceff2;
--pass:#1a7f37;--pass-soft:#dcf5e3;--fail:#cf222e;--fail-soft:#ffe3e1;--skip:#8b949e;--skip-soft:#eceff2;
--warn:#9a6700;--warn-soft:#fff3c4;--info:#0969da;--info-soft:#ddf0ff;
--sign:#cf222e;--exponent:#1a7f37;--fraction:#0969da;--differs:#ffd8b5}
@media (prefers-color-scheme:dark){:root{--ground:#0d1117;--card:#161b22;--ink:#e6edf3;--faint:#9da7b3;--line:#30363d;
--empty:#21262d;--pass:#3fb950;--pass-soft:#12351d;--fail:#f85149;--fail-soft:#4a1518;--skip:#7d8590;--skip-soft:#21262d;
--warn:#d29922;--warn-soft:#3d2e05;--info:#58a6ff;--info-soft:#0c2d53;
--sign:#ff7b72;--exponent:#56d364;--fraction:#79c0ff;--differs:#6b3a12}
.chart [fill="#fed98e"]{fill:#5a2d0c}.chart [fill="#fec44f"]{fill:#7a3c0e}.chart [fill="#fe9929"]{fill:#9c4d10}
.chart [fill="#f4791f"]{fill:#bf6014}.chart [fill="#e85d10"]{fill:#e0761d}.chart [fill="#d7301f"]{fill:#f79443}
.chart [fill="#b30000"]{fill:#ffb57a}.chart [fill="#8b0000"]{fill:#ffd5b0}.chart [fill="#5c0011"]{fill:#fff1e3}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1180px;margin:0 auto;padding:20px 20px 40px}
h2{font-size:19px;margin:38px 0 12px}h3{font-size:16px;margin:0;overflow-wrap:anywhere}h4{font-size:13px;margin:20px 0 6px;
color:var(--faint);font-weight:600;text-transform:uppercase;letter-spacing:.04em}
p{margin:6px 0}a{color:inherit}code,.bits{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
font-size:.92em}code{overflow-wrap:anywhere}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:18px 20px;margin:0 0 16px}
.faint{color:var(--faint)}.small{font-size:13px}
.verdict{display:flex;flex-wrap:wrap;border:0;border-left:12px solid var(--tone);background:var(--soft);padding:22px 26px;
align-items:center}
.pass{--tone:var(--pass);--soft:var(--pass-soft)}.fail{--tone:var(--fail);--soft:var(--fail-soft)}
.warn{--tone:var(--warn);--soft:var(--warn-soft)}.info{--tone:var(--info);--soft:var(--info-soft)}
.none{--tone:var(--skip);--soft:var(--skip-soft)}
.mark{flex:none;width:76px;height:76px;margin-right:22px}.mark path,.mark circle{stroke:var(--tone);fill:none;stroke-width:7;
stroke-linecap:round;stroke-linejoin:round}
.word{flex:none;margin-right:34px}.word b{display:block;font-size:46px;line-height:1.05;color:var(--tone);letter-spacing:.01em}
.word span{color:var(--faint)}
.why{flex:1 1 420px;min-width:0;font-size:18px;line-height:1.4;overflow-wrap:anywhere}.why strong{font-weight:650}
.why ul{margin:8px 0 0;padding-left:20px;font-size:14px}
.counts{display:flex;flex-wrap:wrap;margin:0 -10px}.counts div{flex:1 1 130px;padding:0 10px 8px}
.counts b{display:block;font-size:28px;line-height:1.2;font-variant-numeric:tabular-nums}
.counts .is-failed b{color:var(--fail)}.counts .is-passed b{color:var(--pass)}
.bar{display:flex;height:12px;border-radius:6px;overflow:hidden;background:var(--empty);margin:4px 0}
.bar i{display:block;height:100%;min-width:2px}.bar .failed{background:var(--fail)}.bar .passed{background:var(--pass)}
.bar .skipped{background:var(--skip);opacity:.45}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:14px}th{font-weight:600;text-align:left;color:var(--faint)}
th,td{padding:5px 12px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.matrix{border-collapse:separate;border-spacing:4px;margin:-4px}.matrix th,.matrix td{border:0;padding:5px 12px;white-space:nowrap}
.matrix th{padding-left:0;font-weight:500;color:var(--ink)}.matrix thead th{color:var(--faint);padding-left:12px;text-align:center}
.matrix td{background:var(--soft);border-radius:6px;text-align:center;min-width:104px;font-variant-numeric:tabular-nums}
.matrix td.blank{background:none}.matrix td a{text-decoration:none;display:block}.matrix td b{color:var(--tone)}
.matrix td.fail{font-weight:600;box-shadow:inset 0 0 0 1.5px var(--tone)}
.head{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline}
.diagnosis{border-left:5px solid var(--info);background:var(--info-soft);border-radius:4px;padding:9px 14px;margin:12px 0;
overflow-wrap:anywhere}.charge{border-left:5px solid var(--fail);background:var(--fail-soft);border-radius:4px;padding:9px 14px;margin:12px 0;
overflow-wrap:anywhere}
.diagnosis ul{margin:4px 0 0;padding-left:20px;font-size:13px}
.pictures{display:flex;flex-wrap:wrap;align-items:flex-start;margin:10px -12px 0}.pictures>*{flex:0 1 auto;margin:8px 12px}
.chart{max-width:100%;height:auto;display:block}.chart text{fill:var(--ink)}.chart .tick{font-size:12px;fill:var(--faint)}
.chart .label{font-size:13px;fill:var(--faint)}.chart line{stroke:var(--line)}.chart [fill="#eeeeee"]{fill:var(--empty)}
.classes>div{display:flex;align-items:center;flex-wrap:wrap;padding:4px 0;border-bottom:1px solid var(--line)}
.classes .name{flex:1 1 330px;min-width:0;padding-right:14px;overflow-wrap:anywhere}.classes .bar{flex:1 1 180px}
.classes .count{flex:0 0 130px;text-align:right;font-variant-numeric:tabular-nums;font-size:13px}
.bits{white-space:nowrap;font-size:14px}.bits .s{color:var(--sign)}.bits .e{color:var(--exponent)}.bits .f{color:var(--fraction)}.bits .m{color:var(--faint);margin-left:10px}
.id{white-space:nowrap}.good{color:var(--pass)}.bad{color:var(--fail);font-weight:600}
.bits u{text-decoration:none;background:var(--differs);border-radius:2px;font-weight:700}
ol.steps{padding-left:24px;margin:6px 0}.steps li{margin:3px 0;overflow-wrap:anywhere}
.split{position:relative;display:flex;height:20px;background:var(--empty)}.split i{display:block;height:100%}
.split b{position:absolute;top:-3px;bottom:-3px;width:3px;margin-left:-2px;background:var(--ink)}td.wide{width:100%;min-width:220px}
.deadzone{background:#0072b2}.grid{background:#56b4e9}.scale{background:#e69f00}
.key i{display:inline-block;width:11px;height:11px;border-radius:2px;margin:0 5px 0 12px}.key i.error{width:3px;height:14px;
border-radius:0;background:var(--ink);vertical-align:-2px}
details{margin:10px 0}summary{cursor:pointer;color:var(--faint)}
footer table{width:100%}footer td:first-child{color:var(--faint);white-space:nowrap;width:1%;padding-right:20px}
footer td{overflow-wrap:anywhere}
@media (max-width:640px){main{padding:12px}.verdict{padding:16px}.mark{width:52px;height:52px;margin-right:14px}
.word b{font-size:34px}.why{font-size:16px;flex-basis:100%;margin-top:10px}.card{padding:14px}.matrix td{min-width:76px;padding:5px 6px}
.pictures{margin:8px 0 0}.pictures>*{margin:8px 0}}
@media print{body{background:#fff}.card{break-inside:avoid}}
)css";

}  // namespace fp4proof::report
