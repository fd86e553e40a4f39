/** Visibilities of a file on the page, calibrated if gains are given. */
import { basename } from 'node:path';
import type { Backend } from '../../backend/backend.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { median } from '../../core/median.js';
import { openFile, readGainFile, type VisibilityFile } from '../../formats/index.js';
import { Steering } from '../../live/index.js';
import {
  matchGains,
  outsideField,
  prepareImage,
  responseOf,
  stokesFrameOf,
  through,
} from '../../stages/index.js';
import { findSources } from '../../sky/sources.js';
import type { Page } from '../open.js';

interface ShownSettings {
  readonly backend: Backend;
  /** By default the whole sky. */
  readonly fieldDeg?: number;
  readonly say: (line: string) => void;
}

/** Limit on images: shows samples of a long file rather than all of it. */
const MOST_IMAGES = 48;

export async function showVisibilities(
  page: Page,
  path: string,
  gainsPath: string | undefined,
  settings: ShownSettings,
): Promise<void> {
  const file = await openFile(path);
  try {
    if (file.kind !== 'visibilities')
      return refuse(
        path,
        `holds ${file.kind}`,
        'corella correlate makes visibilities of it, corella inspect looks at it',
      );
    await showIntegrations(page, file, gainsPath, settings);
  } finally {
    await file.close();
  }
}

async function showIntegrations(
  page: Page,
  file: VisibilityFile,
  gainsPath: string | undefined,
  { backend, fieldDeg, say }: ShownSettings,
): Promise<void> {
  const { telescope, header } = file;
  page.state.shownFile = file.path;
  const { frequenciesHz, channelWidthHz } = header;
  const gains =
    gainsPath === undefined ? undefined : { path: gainsPath, file: await readGainFile(gainsPath) };
  const calibrated = gains && matchGains(gains.file, gains.path, telescope, frequenciesHz);
  const isRelative = gains?.file.fluxScale === 'relative';
  const unit = header.units === 'Jy' ? 'Jy/beam' : isRelative ? 'counts' : undefined;
  const image = {
    field:
      fieldDeg === undefined
        ? ({ kind: 'all-sky' } as const)
        : ({ kind: 'field', widthDeg: fieldDeg } as const),
    kernelSize: 5,
    response: responseOf(stokesFrameOf(telescope, header, undefined).frame),
  } as const;
  const common = { backend, telescope, frequenciesHz };
  const imaging = { ...common, image, weight: 'natural', autos: 'leave-out' } as const;
  const stage = prepareImage({ ...imaging, calibrated });
  const every = Math.ceil(file.integrationCount / MOST_IMAGES);
  let steering: Steering | undefined;
  let [number, images] = [0, 0];
  const refused: string[] = [];
  const report = (what: string): void => {
    const line = `${basename(file.path)}: ${what}`;
    say(line);
    page.note('corella', line);
  };
  try {
    for await (const one of file.integrations()) {
      if (number++ % every !== 0) continue;
      if (!steering) {
        const { durationS: integrationS, flaggedInputs, counts } = one;
        steering = new Steering({ flaggedInputs, integrationS, calibrated });
        const imaging = { everyS: integrationS, by: 'visibilities', weight: 'natural', image, unit } as const;
        page.state.begin({
          shown: { ...common, integrationS, flaggedInputs, imaging, steering },
          channelWidthHz,
          spectrumRateHz: Math.max(1, median(counts)) / integrationS,
          sources: findSources('all'),
        });
        page.showGains(steering);
      }
      page.state.integration(one);
      const sky = await through(stage, one).catch((error: unknown) => {
        if (!(error instanceof CorellaError)) throw error;
        refused.push(error.message);
      });
      if (!sky) continue;
      if (images++ === 0) for (const { text } of outsideField(header, sky.frame, image.field)) report(text);
      page.state.image(sky);
      page.state.keepSpectra(sky);
    }
  } finally {
    await stage.close();
  }
  if (refused.length > 0)
    report(`no image of ${refused.length} of the integrations; of the first: ${refused[0]}`);
}
