/** What corella view does, loaded when it runs. */
import type { Command } from 'commander';
import { basename } from 'node:path';
import type { Backend } from '../../backend/backend.js';
import { stoppable } from '../../core/ending.js';
import { refuse } from '../../core/errors.js';
import {
  isCapturePath,
  openPage,
  openShownCapture,
  pageAddress,
  showCapture,
  showFits,
  shownFilesOf,
  shownKindOf,
  showVisibilities,
  tokenOf,
} from '../../serve/index.js';
import { pageLines, tokenIsFor } from '../live/page-lines.js';
import { captureObservation, type CaptureOptions } from '../live/view-capture.js';
import { channelOptionNames } from '../options/channel-options.js';
import { refuseGiven } from '../options/command.js';
import { withBackend } from '../open.js';
import { parseEpoch } from '../../live/index.js';
import { leftOutWords } from '../../receive/index.js';
import { openTerminal } from '../report/terminal.js';
import { version } from '../../core/program/version.js';
import type { Line } from '../../messages/index.js';
import { type ViewOptions, ofCaptures } from '../view.js';

export async function run(named: readonly string[], options: ViewOptions, command: Command): Promise<void> {
  const terminal = openTerminal(options);
  const paths = (await Promise.all(named.map(shownFilesOf))).flat();
  if (!paths.some(isCapturePath))
    refuseGiven(
      command,
      [...Object.keys(ofCaptures), ...channelOptionNames],
      'is for captures, and none is shown',
    );
  if (options.epoch !== undefined) parseEpoch(options.epoch, '--epoch');
  await withBackend(options, (backend) =>
    showFiles(paths, {
      ...(typeof options.page === 'string' && { page: options.page }),
      tokenFile: options.tokenFile,
      fieldDeg: options.field,
      machine: backend,
      packets: options,
      say: (line) => {
        terminal.say(line);
      },
    }),
  );
}

interface ShowSettings {
  readonly page?: string;
  readonly tokenFile?: string;
  readonly machine: Backend;
  /** The whole sky by default. */
  readonly fieldDeg?: number;
  readonly say: (line: Line) => void;
  /** Options for reading a capture. */
  readonly packets?: CaptureOptions;
}

/** Runs until a signal arrives. */
export async function showFiles(paths: readonly string[], settings: ShowSettings): Promise<void> {
  const { machine: backend, say } = settings;
  const kinds = await Promise.all(paths.map(async (path) => ({ path, kind: await shownKindOf(path) })));
  const of = (wanted: string): string[] => kinds.flatMap(({ path, kind }) => (kind === wanted ? [path] : []));
  if (of('capture').length > 1)
    refuse('view', 'several captures', 'give one: its packets are a night of their own');
  if (of('gains').length > 1)
    refuse('view', 'several files of gains', 'give the one that the data are calibrated with');
  if (of('gains').length === 1 && of('visibilities').length === 0 && of('capture').length === 0)
    refuse(
      of('gains')[0],
      'gains alone cannot be shown, and images are what they are',
      'give the visibilities that the gains are for; corella inspect looks at gains',
    );
  const path = of('capture').at(0);
  const { packets } = settings;
  const input =
    path === undefined || !packets
      ? undefined
      : await openShownCapture(captureObservation(path, packets), say);
  const stop = stoppable('view');
  const ended = new Promise<void>((resolve) => {
    stop.signal.addEventListener('abort', () => {
      resolve();
    });
    endIt = resolve;
  });
  const page = await openPage({
    ...pageAddress(settings.page),
    ...(settings.tokenFile !== undefined && { token: await tokenOf(settings.tokenFile) }),
    facts: {
      description: paths.join(', '),
      backend: `${backend.kind}: ${backend.description}`,
      version: version(),
      isLive: false,
      showing: paths.map((path) => basename(path)).join(', '),
      folder: '.',
      ...(input?.packets && {
        packets: () => input.packets?.() ?? refuse('view', 'no packets are received'),
      }),
    },
    stop: () => {
      endIt();
    },
    say,
  });
  try {
    for (const path of of('fits')) await showFits(page, path);
    for (const path of of('visibilities')) {
      const { fieldDeg } = settings;
      await showVisibilities(page, path, of('gains').at(0), { backend, fieldDeg, say });
    }
    if (input && settings.packets && path !== undefined) {
      say(`${path} is worked through at ${page.url}`);
      const gains = of('gains').at(0);
      stop.signal.addEventListener('abort', () => {
        input.stop();
      });
      const asked = { ...settings.packets, ...(gains && { gains }) };
      await showCapture(page, input, captureObservation(path, asked), backend);
      const { endsEarly, leftOut } = input.packets?.() ?? {};
      if (leftOut) say(`${path}: left out are ${leftOutWords(leftOut).join(', ')}`);
      if (endsEarly) say(`${path} ends early, at byte ${endsEarly.atByte}: ${endsEarly.why}`);
    }
    if (page.state.frame === undefined && page.state.antennas === undefined)
      refuse(
        'view',
        'nothing of these can be shown alone',
        'give the visibilities that the gains are for, or an image',
      );
    const { tokenFile } = settings;
    if (page.isLocal) say(`the sky is at ${page.url}; Ctrl-C ends it`);
    else
      for (const line of pageLines(page, {
        tokenFile,
        tokenOption: 'corella view --token-file',
        tokenIs: tokenIsFor({}),
      }))
        say(line);
    await ended;
  } finally {
    await page.close();
    await input?.close();
    stop.release();
  }
}
let endIt: () => void = () => undefined;
