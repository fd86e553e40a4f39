/** corella image --every: a cube in time and a film, by either road. */
import { join, parse as splitPath } from 'node:path';
import { planeML } from '../core/axes.js';
import { formatSeconds } from '../core/units.js';
import type { Recording, VisibilityFile } from '../formats/index.js';
import { averageChannels, stationBeam, stokesI } from '../image/index.js';
import { imagesDirectly } from '../pipeline/direct-images.js';
import { writeSeries, type Series, type SeriesImage } from '../pipeline/wide/film.js';
import type { Calibrated, ImageSettings } from '../pipeline/sky-image.js';
import { imageWideSeries } from '../pipeline/wide/series.js';
import type { DirectSkyImage } from '../pipeline/stages/direct-image.js';
import type { Telescope } from '../telescope/telescope.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { imageUnit } from './image-gains.js';
import { integrationsOf, type WideChoice, type WideCommandOptions } from './image-wide.js';
import { brightnessAtUsualGain, type Level } from '../pipeline/levels.js';
import { withBackend } from './open.js';
import { checkOutputs } from './options/outputs.js';
import { parseSources } from './options/sky-options.js';
import { weightingOf, weightWords } from './options/wide-options.js';
import { history } from './report/history.js';
import type { Terminal } from './report/terminal.js';

interface Gains {
  readonly calibrated?: Calibrated;
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
        ...{ frequenciesHz: header.frequenciesHz, channelWidthHz: header.channelWidthHz },
        onStep: (step) => {
          stage.at(0, step);
        },
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
    { road: weightWords(options), seconds: stage.done() },
    terminal,
  );
}

export async function runDirectSeries(
  recording: Recording,
  plan: ChannelisePlan | undefined,
  work: {
    readonly telescope: Telescope;
    readonly frequenciesHz: Float64Array;
    readonly channelWidthHz: number;
    readonly durationS?: number;
    readonly everyS: number;
    readonly settings: ImageSettings;
    readonly gains: Gains;
    readonly level?: Level;
  },
  options: WideCommandOptions,
  terminal: Terminal,
): Promise<void> {
  const { telescope, frequenciesHz, everyS, durationS, level } = work;
  const stage = terminal.stage('images directly');
  const images: SeriesImage[] = [];
  let first: DirectSkyImage | undefined;
  await withBackend(options, (backend) =>
    imagesDirectly(
      recording,
      plan,
      {
        ...{ backend, telescope, frequenciesHz, everyS, ...work.gains, onProgress: stage.update },
        ...(durationS === undefined ? {} : { durationS }),
      },
      work.settings,
      (sky) => {
        first ??= sky;
        if (level) brightnessAtUsualGain(sky.image, level);
        const plane = stokesI(averageChannels(sky.image, sky.plan), sky.plan, 0);
        images.push({
          plane: planeML(plane, sky.plan.pixels),
          ...{ start: sky.start, durationS: sky.durationS, frame: sky.frame, centre: sky.frame.zenith },
        });
        return Promise.resolve();
      },
    ),
  );
  if (!first) throw new Error('a recording gave no image');
  const beam = stationBeam(first.plan);
  const series: Series = {
    ...{ images, plan: first.plan, everyS, centreName: 'zenith', ...(beam && { beam }) },
    frequencyHz: (frequenciesHz[0] + frequenciesHz[frequenciesHz.length - 1]) / 2,
    bandHz: work.channelWidthHz * frequenciesHz.length,
  };
  const told = { road: 'Direct imaging (EPIC)', seconds: stage.done() };
  await finish(recording, telescope, options, series, told, terminal);
}

async function finish(
  file: Recording | VisibilityFile,
  telescope: Telescope,
  options: WideCommandOptions,
  series: Series,
  { road, seconds }: { readonly road: string; readonly seconds: number },
  terminal: Terminal,
): Promise<void> {
  const paths = seriesPaths(options.out ?? 'series.fits');
  await checkOutputs({ ...options, paths: Object.values(paths), from: file.path });
  const unit = imageUnit(file, options);
  const middle = series.images[Math.floor(series.images.length / 2)];
  await writeSeries(paths, series, {
    ...{ telescope, road, unit, history: history({ from: file, telescope }) },
    sources: parseSources(options.sources)(middle.frame),
  });
  const { pixels } = series.plan;
  const count = series.images.length;
  terminal.result(
    { paths: Object.values(paths), images: count, everyS: series.everyS, pixels, unit, seconds },
    [
      `${paths.fits}, ${paths.png}: ${count} image${count === 1 ? '' : 's'} of ${pixels} × ${pixels} pixels, one every ` +
        `${formatSeconds(series.everyS)}, ${formatSeconds(seconds)}; the PNG is a film`,
    ],
  );
}

export function seriesPaths(out: string): { readonly fits: string; readonly png: string } {
  const { dir, name } = splitPath(out);
  return { fits: out, png: join(dir, `${name}.png`) };
}
