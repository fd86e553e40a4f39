/** The report as a self-contained page: text, tables and pictures in a single file. */
import { renderPng } from '../../draw/index.js';
import { formatBytes, formatSeconds } from '../../core/units.js';
import type { Check, FigureTable, Plot } from '../figure.js';
import { figureText, missed, type QualifiedFigure, type Qualification } from '../qualification.js';
import type { Moved } from './json.js';

/** The page's style, for dark screens and paper. Pictures are drawn light on dark; for paper they are inverted. */
const style = `
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

export async function reportHtml(
  qualification: Qualification,
  moved: readonly Moved[] = [],
): Promise<string> {
  const { version, madeUtc, machine, backend, description, quick, seconds, figures } = qualification;
  const lines = missed(qualification);
  const checks = figures.flatMap((figure) => figure.checks).filter(({ result }) => result !== 'reported');
  const result =
    lines.length === 0
      ? `<p class="result pass">Passed: all ${checks.length} thresholds</p>`
      : `<p class="result fail">Missed: ${lines.length} of ${checks.length} thresholds</p><ul>${lines.map((line) => `<li>${escaped(line)}</li>`).join('')}</ul>`;
  const parts: string[] = [];
  for (const figure of figures) parts.push(await figureHtml(figure));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Corella: qualification, ${escaped(backend)}</title><style>${style}</style></head><body><main>
<h1>Qualification of a correlator</h1>
<p class="lead">Corella ${escaped(version)} on backend <b>${escaped(backend)}</b>: ${escaped(description)}. ${quick ? 'A quick run' : 'The full run'} of ${formatSeconds(seconds)}, ${escaped(madeUtc.slice(0, 16).replace('T', ' '))} UTC.</p>
${result}
<dl><dt>Processor</dt><dd>${escaped(machine.processor)}, ${machine.cores} cores, ${escaped(formatBytes(machine.memoryBytes))}</dd>
<dt>System</dt><dd>${escaped(machine.system)}, Node ${escaped(machine.node)}</dd>
<dt>Backends</dt><dd>${machine.backends.map(escaped).join('<br>')}</dd></dl>
<nav><table><thead><tr><th>figure</th><th>thresholds</th><th></th></tr></thead><tbody>${figures.map(summaryRow).join('')}</tbody></table></nav>
${moved.length > 0 ? movedHtml(moved) : ''}
${parts.join('\n')}
</main></body></html>
`;
}

function summaryRow({ name, title, checks, failure }: QualifiedFigure): string {
  const tested = checks.filter(({ result }) => result !== 'reported');
  const passed = tested.filter(({ result }) => result === 'pass').length;
  const isGood = failure === undefined && passed === tested.length;
  const words =
    failure === undefined
      ? tested.length === 0
        ? 'reported'
        : `${passed} of ${tested.length}`
      : 'not measured';
  return `<tr><td><a href="#${name}">${escaped(title)}</a></td><td>${words}</td><td class="${isGood ? 'pass' : 'fail'}">${isGood ? (tested.length === 0 ? '' : '✓ pass') : '✗ missed'}</td></tr>`;
}

async function figureHtml(figure: QualifiedFigure): Promise<string> {
  const { name, title, about, checks, plots = [], tables = [], remarks = [], failure, seconds } = figure;
  const pictures: string[] = [];
  for (const plot of plots) pictures.push(await plotHtml(plot));
  return `<section id="${name}"><h2>${escaped(title)}</h2><p>${escaped(about)}</p>
${failure === undefined ? '' : `<p class="result fail">Could not be measured: ${escaped(failure)}</p>`}
${checks.length === 0 ? '' : `<table><thead><tr><th>what</th><th>measured</th><th>wanted</th><th></th></tr></thead><tbody>${checks.map(checkRow).join('')}</tbody></table>`}
<div class="plots">${pictures.join('')}</div>
${tables.map(tableHtml).join('')}
${remarks.map((remark) => `<p class="remark">${escaped(remark)}</p>`).join('')}
<p class="remark">${formatSeconds(seconds)}</p></section>`;
}

const signs = { pass: '✓ pass', fail: '✗ missed', reported: 'reported' } as const;

const checkRow = ({ what, measured, unit, wanted = '', result }: Check): string =>
  `<tr><td>${escaped(what)}</td><td class="number">${figureText(measured)} ${escaped(unit)}</td><td>${escaped(wanted)}</td><td class="${result}">${signs[result]}</td></tr>`;

async function plotHtml({ caption, picture }: Plot): Promise<string> {
  const png = Buffer.from(await renderPng(picture)).toString('base64');
  return `<figure><img alt="${escaped(caption)}" width="${picture.width}" height="${picture.height}" src="data:image/png;base64,${png}"><figcaption>${escaped(caption)}</figcaption></figure>`;
}

const tableHtml = ({ caption, head, rows }: FigureTable): string =>
  `<div class="wide"><table><caption>${escaped(caption)}</caption><thead><tr>${head.map((cell) => `<th>${escaped(cell)}</th>`).join('')}</tr></thead><tbody>${rows.map((row) => `<tr>${row.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`).join('')}</tbody></table></div>`;

const movedHtml = (moved: readonly Moved[]): string =>
  tableHtml({
    caption: 'What moved since the earlier report',
    head: ['figure', 'what', 'before', 'now', ''],
    rows: moved.map(({ figure, what, unit, before, now, worse }) => [
      figure,
      what,
      `${before} ${unit}`,
      `${now} ${unit}`,
      worse ? 'missed now' : '',
    ]),
  });

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
