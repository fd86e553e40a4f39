/** corella image --every: a cube in time and a film, from visibilities. */
import { join, parse as splitPath } from 'node:path';
import { formatSeconds } from '../core/units.js';
import type { VisibilityFile } from '../formats/index.js';
import {
  onSheet,
  writeSeries,
  type Series,
  type SeriesPaths,
  type Calibrated,
  type CalibratedAt,
} from '../stages/index.js';
import { imageWideSeries } from '../visibilities/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { imageUnit } from './image-gains.js';
import {
  beyondLines,
  fringesOf,
  handLines,
  integrationsOf,
  methodWords,
  smearLine,
  type WideChoice,
  type WideCommandOptions,
} from './image-wide.js';
import { withBackend } from './open.js';
import { checkOutputs } from './options/outputs.js';
import { parseSources } from './options/sky-options.js';
import { weightingOf, weightWords } from './options/wide-options.js';
import { history } from './report/history.js';
import type { Terminal } from './report/terminal.js';

/** How pictures made without visibilities say so. */
export const DIRECT_ROAD = 'Direct imaging (EPIC)';

interface Gains {
  readonly calibrated?: Calibrated | CalibratedAt;
}

export async function runWideSeries(
  file: VisibilityFile,
  telescope: Telescope,
  options: WideCommandOptions,
  choice: WideChoice,
  everyS: number,
  gains: Gains,
  terminal: Terminal,
): Promise<void> {
  const stage = terminal.stage('images');
  const { header } = file;
  const series = await withBackend(options, (backend) =>
    imageWideSeries(
      () => integrationsOf(file, options.integration),
      {
        ...{ backend, telescope, ...gains, polarisations: header.polarisations },
        ...(header.products && { codes: header.products }),
        ...{ frequenciesHz: header.frequenciesHz, channelWidthHz: header.channelWidthHz },
        fringes: fringesOf(header),
        onStep: (step) => {
          stage.at(0, step);
        },
        onProgress: stage.update,
      },
      {
        ...{ centre: choice.centre, field: choice.field, stokes: 'I', channels: 'together' },
        weighting: weightingOf(options),
        ...(options.accuracy === undefined ? {} : { accuracy: options.accuracy }),
      },
      everyS,
    ),
  );
  await finish(
    file,
    telescope,
    options,
    series,
    {
      ...{ road: weightWords(options), seconds: stage.done() },
      ...{ notes: seriesLines(series, header.feeds), facts: seriesFacts(series) },
    },
    terminal,
  );
}

/** What is not as one would expect of them. */
const seriesLines = (series: Series, feeds: VisibilityFile['header']['feeds']): string[] => [
  ...(series.lost && series.lost.length > 0
    ? [
        `${series.lost.length} of the ${series.images.length} are blank (NaN): their stretch of time has no data; the film leaves them out`,
      ]
    : []),
  ...(series.beyond ? beyondLines(series.beyond) : []),
  ...(series.hands ? handLines(series.hands, feeds) : []),
  ...smearLine('the width of a channel', series.smearing?.bandwidth ?? 0),
  ...smearLine('the length of an integration', series.smearing?.time ?? 0),
];

const seriesFacts = ({ lost = [], beyond, smearing }: Series): object => ({
  ...(lost.length > 0 && { lost }),
  ...(beyond && beyond.visibilities > 0 && { beyond }),
  ...(smearing && { smearing }),
});

async function finish(
  file: VisibilityFile,
  telescope: Telescope,
  options: WideCommandOptions,
  series: Series,
  {
    road,
    seconds,
    notes = [],
    facts = {},
  }: {
    readonly road: string;
    readonly seconds: number;
    readonly notes?: readonly string[];
    readonly facts?: object;
  },
  terminal: Terminal,
): Promise<void> {
  const paths = seriesPaths(options.out ?? 'series.fits', options.sheet);
  const written = Object.values(paths) as string[];
  await checkOutputs({ ...options, paths: written, from: file.path });
  const unit = imageUnit(file, options);
  const { made } = series;
  const middle = series.images[Math.floor(series.images.length / 2)];
  await writeSeries(paths, series, {
    ...{ telescope, road, unit },
    history: [
      ...history({ from: file, telescope }),
      ...(made ? [`${road}, ${methodWords(made.method, made.accuracy)}`] : []),
    ],
    sources: parseSources(options.sources)(middle.frame),
  });
  const { pixels } = series.plan;
  const count = series.images.length;
  const shown = paths.sheet === undefined ? count : onSheet(series.images).length;
  const json = {
    ...{ paths: written, images: count, everyS: series.everyS, pixels, unit },
    ...(made && { accuracy: made.accuracy, method: made.method }),
    ...{ ...facts, seconds },
  };
  terminal.result(json, [
    `${written.join(', ')}: ${count} image${count === 1 ? '' : 's'} of ${pixels} × ${pixels} pixels, one every ` +
      `${formatSeconds(series.everyS)}, ${formatSeconds(seconds)}; ${paths.png} is a film` +
      (shown < count ? `, the sheet has ${shown} of them` : ''),
    ...notes,
    ...(made ? [methodWords(made.method, made.accuracy)] : []),
  ]);
}

export function seriesPaths(out: string, sheet?: true): SeriesPaths {
  const { dir, name } = splitPath(out);
  return {
    fits: out,
    png: join(dir, `${name}.png`),
    ...(sheet && { sheet: join(dir, `${name}-sheet.png`) }),
  };
}
