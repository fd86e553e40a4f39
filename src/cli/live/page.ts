/** The page of a night: options, what it is told, and what it may steer. */
import type { Command } from 'commander';
import { dirname, join } from 'node:path';
import type { Backend } from '../../backend/backend.js';
import type { Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { formatInstant } from '../../core/instant.js';
import type { Source } from '../../core/sources.js';
import { readGainFile } from '../../formats/index.js';
import { gainsOverTime } from '../../pipeline/gains/apply.js';
import type { LiveSettings } from '../../pipeline/live/chain.js';
import type { NightFiles } from '../../pipeline/live/file-task.js';
import type { FileEvent } from '../../pipeline/live/files.js';
import { LiveCheck } from '../../pipeline/live/check.js';
import { LiveGains } from '../../pipeline/live/gains.js';
import { spectrumRateOf } from '../../pipeline/live/night.js';
import { Steering } from '../../pipeline/live/steering.js';
import type { NightWatcher } from '../../pipeline/live/watcher.js';
import type { ReceiveAccount } from '../../receive/index.js';
import type { TimedSpectra } from '../../pipeline/stages/spectra.js';
import { openCapture, openPage, partOf, tokenOf, watchInput, type CheckView } from '../../serve/index.js';
import type { SkyImage } from '../../pipeline/sky-image.js';
import { sourcesNamed } from '../../sky/models/named.js';
import { addModelOptions, modelOf, type ModelOptions } from '../options/model-options.js';
import { version } from '../report/version.js';
import type { OpenedInput, Say } from './input.js';
import type { Steerable } from './machines.js';
import { pageLines, tokenIsFor } from './page-lines.js';

export interface PageOptions extends ModelOptions {
  /** HOST:PORT or PORT; nothing where nobody said, false for none. */
  readonly page?: string | false;
  readonly pageName?: readonly string[];
  readonly tokenFile?: string;
}

const HOST = '127.0.0.1';
const PORT = 8080;

export function addPageOptions(command: Command): void {
  command
    .optionsGroup('Page:')
    .option(
      '--page <address>',
      `where a browser sees the sky and steers, PORT or HOST:PORT (default: ${HOST}:${PORT}, or a free port)`,
    )
    .option('--no-page', 'none')
    .option('--page-name <name...>', 'further host names by which it is reached, behind a proxy')
    .option(
      '--token-file <path>',
      'the token that lets one steer; made where there is none (default: shown on a terminal)',
    );
  addModelOptions(command.optionsGroup('Gains solved on the page:'));
}

export function pageAddress(page: string | undefined): { host: string; port: number; orAny: boolean } {
  if (page === undefined) return { host: HOST, port: PORT, orAny: true };
  const parts = /^(?:(\[[^\]]+\]|[^:]+):)?(\d{1,5})$/.exec(page);
  if (!parts || Number(parts[2]) > 65_535)
    refuse('--page', `'${page}' is no port or address`, 'write it like 8080 or 127.0.0.1:8080');
  return { host: (parts.at(1) ?? HOST).replace(/^\[|\]$/g, ''), port: Number(parts[2]), orAny: false };
}

interface BegunNight {
  readonly live: LiveSettings;
  readonly channelWidthHz: number;
  readonly sources: string;
  readonly picture: string;
  readonly files?: NightFiles;
}

export interface NightPage extends Closable, Steerable {
  /** The input, watched. */
  readonly input: OpenedInput;
  readonly watcher: NightWatcher;
  /** Sees spectra on their way: some are checked against the reference. */
  readonly look: (spectra: TimedSpectra) => Promise<void>;
  begin(source: Source, begun: BegunNight): void;
  file(event: FileEvent): void;
}

interface Settings {
  readonly options: PageOptions & { readonly out?: string; readonly json?: boolean };
  readonly backend: Backend;
  readonly stop: () => void;
  readonly say: Say;
}

function packetsOf(input: OpenedInput): ReceiveAccount {
  return input.packets?.() ?? refuse('live', 'no packets are received');
}

/** What may change on the way; a card has its flags and gains for the night. */
export const steeringOf = ({ flaggedInputs, integrationS, imaging }: LiveSettings): Steering =>
  new Steering({
    ...{ flaggedInputs: flaggedInputs ?? new Uint8Array(), integrationS },
    ...(imaging?.calibrated && { calibrated: imaging.calibrated }),
  });

/** A block is checked so often. */
const CHECK_S = 60;

function checkView(check: LiveCheck | undefined): CheckView | undefined {
  if (!check?.latest) return undefined;
  const { time, atMs, samples, products, differing, largest, exact, roads } = check.latest;
  return {
    time: formatInstant(time, 3),
    ageS: (performance.now() - atMs) / 1000,
    ...{ samples, products, differing, largest, exact },
    ...(roads && { roadsDiffer: roads.difference }),
    checked: check.checked,
    failed: check.failed,
  };
}

/** Sources lower than this stay out of the model of gains. */
const MINIMUM_ALTITUDE_DEG = 5;

/** None where nobody wants one, or where data do not come in real time and nobody asked. */
export async function openNightPage(input: OpenedInput, settings: Settings): Promise<NightPage | undefined> {
  const { options, backend, stop, say } = settings;
  if (options.page === false || (options.page === undefined && !input.isLive)) return undefined;
  const folder = options.out === undefined ? '.' : dirname(options.out);
  const { ring } = input;
  const page = await openPage({
    ...pageAddress(options.page),
    ...(options.pageName && { names: options.pageName }),
    ...(options.tokenFile !== undefined && { token: await tokenOf(options.tokenFile) }),
    ...(options.out !== undefined && { journal: join(folder, 'journal.jsonl') }),
    receiver: {
      ...(input.tellEpoch && { tellEpoch: input.tellEpoch }),
      ...(input.listening && { capture: openCapture(input.listening, folder) }),
    },
    facts: {
      description: input.description,
      backend: `${backend.kind}: ${backend.description}`,
      version: version(),
      isLive: input.isLive,
      folder,
      ...(input.packets && { packets: () => packetsOf(input) }),
      ...(ring && { ring }),
    },
    stop,
    say,
  });
  const tokenIs = tokenIsFor(options);
  for (const line of pageLines(page, { tokenFile: options.tokenFile, tokenOption: '--token-file', tokenIs }))
    say(line);
  let gains: LiveGains | undefined;
  let check: LiveCheck | undefined;
  let share: ((sky: SkyImage) => void) | undefined;
  return {
    ...{ url: page.url, token: page.token },
    startedUnixS: page.state.startedUnixS,
    night: () => page.state.book.view(),
    plan: () => page.plan(),
    steered: () => {
      const { steering } = page.state.begun?.live ?? {};
      if (!steering) return undefined;
      const flagged = Array.from(steering.flags.latest.keys()).filter((a) => steering.flags.latest[a] === 1);
      return { flagged, integrationS: steering.integration.latest, recording: steering.recording.latest };
    },
    onPart: (machine, listener) => {
      share = (sky) => {
        const part = partOf(page.state, machine, sky);
        if (part) listener(part, sky.start);
      };
    },
    status: () => page.status(),
    bandHz: () => {
      const { frequenciesHz } = page.state.begun?.live ?? {};
      return frequenciesHz && [frequenciesHz[0], frequenciesHz[frequenciesHz.length - 1]];
    },
    command: (name, body, who, mode) => page.command(name, body, who, mode),
    look: async (spectra) => {
      await check?.look(spectra);
    },
    // Its methods stay its own; only the sessions are seen through.
    input: Object.assign(Object.create(input) as OpenedInput, watchInput(input, page.state)),
    watcher: {
      session: (source) => {
        page.state.session(source);
      },
      integration: async (integration) => {
        page.state.integration(integration);
        await gains?.integration(integration);
        await page.again.work();
      },
      image: (sky) => {
        page.state.image(sky);
        share?.(sky);
      },
    },
    begin: (source, { live, channelWidthHz, sources, picture, files }) => {
      const named = sourcesNamed(sources === 'all' ? 'all' : sources.split(',').map((one) => one.trim()));
      const { telescope, frequenciesHz, steering, imaging } = live;
      page.state.begin({
        live,
        channelWidthHz,
        spectrumRateHz: spectrumRateOf(source, live),
        sources: named,
        ...(files && { files }),
        ...(imaging && { picture }),
      });
      check = new LiveCheck(
        {
          ...{ backend, telescope, frequenciesHz, everyS: CHECK_S },
          // Images of spectra that follow a place would have it in their middle.
          ...(imaging && !live.delays?.track && { image: imaging.image }),
        },
        ({ roads }) => {
          if (roads) page.state.showRoads(roads);
        },
      );
      page.check(() => checkView(check));
      if (!steering) return;
      gains =
        imaging &&
        new LiveGains(
          {
            ...{ backend, telescope, frequenciesHz, sources: named },
            polarisations: source.polarisations,
            minimumAltitudeDeg: MINIMUM_ALTITUDE_DEG,
            model: () => modelOf(options, telescope, frequenciesHz),
          },
          steering,
          page.gainsEvents,
        );
      page.steer({
        steering,
        telescope,
        ...(gains && { gains }),
        hasFiles: files !== undefined,
        loadGains: async (name) =>
          gainsOverTime(await readGainFile(name), name, telescope, frequenciesHz, 'live'),
      });
    },
    file: (event) => {
      page.state.file(event);
    },
    close: async () => {
      await gains?.close();
      await check?.close();
      await page.close();
    },
  };
}
