/** What corella inspect does, loaded when it runs. */
import { basename } from 'node:path';
import { CorellaError, refuse } from '../../core/errors.js';
import { renderPng } from '../../draw/index.js';
import { checkOutputs, writeFileWhole } from '../../formats/index.js';
import { drawings, filesOfFolder, openInspected, type Holds } from '../../inspect/index.js';
import { reworded, type Line } from '../../messages/index.js';
import { observationOfProduct, writeObservation } from '../../observation/index.js';
import { parsePhaseCentre } from '../../sky/phase-centre.js';
import type { InspectOptions } from '../inspect.js';
import { factsOf, openFields } from '../options/open-options.js';
import { openTerminal, type Terminal } from '../report/terminal.js';

export async function run(path: string, options: InspectOptions): Promise<void> {
  const files = await filesOfFolder(path);
  if (files) await inspectFolder(path, files, options);
  else await inspectFile(path, options, openTerminal(options));
}

const flagOf = (option: string): string =>
  `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Inspects every readable file in a folder in turn; lists the others. */
async function inspectFolder(
  folder: string,
  files: readonly string[],
  options: InspectOptions,
): Promise<void> {
  for (const name of [...drawings, 'baseline', 'plan', 'fringeOf'] as const)
    if (options[name] !== undefined)
      refuse(flagOf(name), `is for one file, and ${folder} is a folder`, `name a file in ${folder}`);
  const terminal = openTerminal(options);
  const found: { readonly file: string; readonly holds: object }[] = [];
  const others: string[] = [];
  for (const path of files) {
    const lines: Line[] = [];
    const collecting: Terminal = {
      ...terminal,
      result: (holds, said) => {
        found.push({ file: basename(path), holds });
        lines.push(...said);
      },
    };
    try {
      await inspectFile(path, options, collecting);
      terminal.show([
        `${found.length > 1 ? '\n' : ''}${basename(path)}`,
        ...lines.map((one) => reworded(one, (text) => `  ${text}`)),
      ]);
    } catch (error) {
      if (!(error instanceof CorellaError)) throw error;
      others.push(basename(path));
    }
  }
  if (found.length === 0) refuse(folder, 'holds no file that can be read', 'name a file');
  terminal.result(
    { folder, files: found, others },
    others.length === 0 ? [] : ['', `not read: ${others.join(', ')}`],
  );
}

async function inspectFile(path: string, options: InspectOptions, terminal: Terminal): Promise<void> {
  if (options.plan === true) {
    const observation = await observationOfProduct(path);
    process.stdout.write(writeObservation(observation, options.json === true ? 'json' : 'yaml'));
    return;
  }
  const draw = drawings.filter((drawing) => options[drawing] !== undefined);
  const paths = draw.map((drawing) => options[drawing] ?? '');
  if (paths.length > 0) await checkOutputs({ ...options, paths, from: path });
  if (options.baseline !== undefined && options.picture === undefined)
    refuse('--baseline', 'draws nothing by itself', 'give its file: --picture pair.png');
  const fringeOf =
    options.fringeOf === undefined ? undefined : parsePhaseCentre(options.fringeOf, '--fringe-of');
  const opened = await openInspected(path, { source: factsOf(options), telescope: options.telescope });
  try {
    refuseMeaningless(path, opened.holds, options);
    // The first block needs no progress; all of a large file may take minutes.
    const stage = options.whole === true ? terminal.stage('read') : undefined;
    const { whole, baseline } = options;
    const report = await opened.report({ whole, draw, baseline, fringeOf, onProgress: stage?.update });
    stage?.done();
    for (const drawing of draw) {
      const { picture, widthPx } =
        report.pictures[drawing] ?? refuse(path, `holds nothing to draw for --${drawing}`, 'leave it out');
      await writeFileWhole(options[drawing] ?? '', await renderPng(picture, { width: widthPx }));
    }
    terminal.result(report.json, [...report.lines, ...paths.map((drawing) => `drawn in ${drawing}`)]);
  } finally {
    await opened.close();
  }
}

interface Meaningless {
  readonly what: string;
  readonly fix: string;
  readonly options: readonly (keyof InspectOptions)[];
}
const ofBaselines = ['baseline', 'uv', 'fringes', 'fringeOf'] as const;
const ofOneBlock = ['spectrum', 'map', ...ofBaselines] as const;
const recordings = {
  what: 'recordings, such as',
  fix: 'correlate it first',
  options: ['baseline', 'uv'],
} as const;
const meaningless: Readonly<Partial<Record<Holds, Meaningless>>> = {
  gains: { what: 'gains, as in', fix: 'draw them with --picture', options: ofOneBlock },
  image: { what: 'images, such as', fix: 'draw it with --picture', options: ofOneBlock },
  filterbank: { what: 'filterbanks, such as', fix: 'draw it with --picture', options: ofOneBlock },
  packets: {
    what: 'captured packets, as in',
    fix: 'leave it out',
    options: [
      'picture',
      ...ofOneBlock,
      ...(Object.keys(openFields) as (keyof typeof openFields)[]).filter(
        (name) => name !== 'format' && name !== 'rate',
      ),
    ],
  },
  voltages: recordings,
  spectra: recordings,
};

/** Refuses, before anything is read or written, options that a kind of file does not have. */
function refuseMeaningless(path: string, holds: Holds, options: InspectOptions): void {
  const found = meaningless[holds];
  const given = found?.options.find((name) => options[name] !== undefined);
  if (found && given) refuse(flagOf(given), `is not for ${found.what} ${path}`, found.fix);
}
