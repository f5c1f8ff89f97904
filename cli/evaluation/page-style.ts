/** Style of the report page. Colours differ in lightness too, for readers who cannot tell hues apart. */
export const style = `
:root {
  --ground: #fbfbfa; --panel: #fff; --ink: #1c1d1f; --soft: #5e6268; --line: #dfe0e2;
  --best: #0b5f6b; --good: #3aa6a0; --poor: #d9983a; --bad: #b5473c; --none: #9a9da3;
  --on-deep: #fff; --on-pale: #14161a;
  --series-0: #0b5f6b; --series-1: #d9983a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15171a; --panel: #1d2024; --ink: #e8e9eb; --soft: #a2a7ae; --line: #34383e;
    --best: #5fd0c9; --good: #2b8a86; --poor: #c58a35; --bad: #c45e53; --none: #8a8e96;
    --on-deep: #0e1012; --on-pale: #0e1012;
    --series-0: #5fd0c9; --series-1: #e0a64e;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header, main { max-width: 960px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 40px; }
header > p:first-child { margin: 0; color: var(--soft); letter-spacing: 0.04em; }
h1 { margin: 0 0 20px; font-size: 30px; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 0; font-size: 19px; }
section { margin: 24px 0; padding: 20px 24px; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }
section > p { margin: 2px 0 14px; color: var(--soft); }
.note { color: var(--soft); }
.warning { padding: 10px 14px; border: 2px solid var(--poor); border-radius: 10px; font-weight: 600; }
ul { list-style: none; margin: 0; padding: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(145px, 1fr)); gap: 12px; }
.tiles li { padding: 14px 16px; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }
.tiles b { display: block; font-size: 26px; line-height: 1.15; font-variant-numeric: tabular-nums; }
.tiles span { display: block; font-weight: 600; }
.tiles small { display: block; color: var(--soft); line-height: 1.3; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin-bottom: 8px; }
.legend i { display: inline-block; width: 12px; height: 12px; margin-right: 6px; border-radius: 3px; vertical-align: -1px; }
figure { margin: 0; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 24px; }
.pictures img { display: block; width: 100%; height: auto; background: #fff; border-radius: 6px; }
figcaption { margin-bottom: 6px; font-size: 13px; color: var(--soft); overflow-wrap: anywhere; }
figcaption b { color: var(--ink); }
figure:has(> svg) { overflow-x: auto; }
/** On a narrow screen charts scroll, because shrunk text would be too small to read. */
figure svg { min-width: 480px; width: 100%; height: auto; font-family: inherit; font-size: 12px; overflow: visible; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 11px 4px 0; font-size: 14px; text-align: right; white-space: nowrap; }
tbody th { text-align: left; font-weight: 500; }
thead th { color: var(--soft); font-weight: 500; border-bottom: 1px solid var(--line); }
tbody + tbody tr:first-child > * { border-top: 1px solid var(--line); }
td.words, th.words { min-width: 190px; text-align: left; white-space: normal; overflow-wrap: anywhere; }
@media (max-width: 560px) {
  header, main { padding: 0 12px; }
  section { padding: 16px 14px; }
}
.meanings { margin-top: 14px; color: var(--soft); font-size: 13px; columns: 2 300px; }
.meanings b { color: var(--ink); }
`;
