/** The page's style, for dark screens and paper. Pictures are drawn light on dark; for paper they are inverted. */
export const style = `
:root { color-scheme: light dark; --ink: #1b2330; --quiet: #5a6678; --line: #d5dbe4; --paper: #ffffff; --good: #0b6b4f; --bad: #a8321a; --link: #1f5fa8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf4; --quiet: #9aa4b6; --line: #2c3342; --paper: #0b0d13; --good: #5ed0a4; --bad: #ff9e64; --link: #8ec5ff; } }
@media print { :root { --ink: #000; --quiet: #444; --line: #bbb; --paper: #fff; --good: #064; --bad: #920; } section { break-inside: avoid; } nav a { color: inherit; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .25rem; }
.lead { font-size: 1.05rem; } a { color: var(--link); }
.result { font-weight: 600; font-size: 1.1rem; } .pass { color: var(--good); white-space: nowrap; } .fail { color: var(--bad); white-space: nowrap; }
.reported, .remark, figcaption, caption { color: var(--quiet); font-size: .9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; } dt { color: var(--quiet); } dd { margin: 0; }
table { border-collapse: collapse; width: 100%; margin: .75rem 0; font-size: .93rem; } caption { text-align: left; padding-bottom: .3rem; }
th { text-align: left; font-weight: 600; color: var(--quiet); } th, td { padding: .28rem .8rem .28rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.number { font-variant-numeric: tabular-nums; white-space: nowrap; } .wide { overflow-x: auto; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(22rem, 1fr)); gap: 1rem; } figure { margin: 0; }
img { width: 100%; height: auto; border-radius: 4px; }
@media print, (prefers-color-scheme: light) { img { filter: invert(1) hue-rotate(180deg); } }
`;
