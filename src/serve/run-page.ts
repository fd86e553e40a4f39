/** The page of a live observation: what it shows and what it may steer. */
import { dirname, join } from 'node:path';
import type { Closable } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import { formatInstant, type Instant } from '../core/instant.js';
import { readGainFile } from '../formats/index.js';
import { gainsOverTime, type SkyImage } from '../stages/index.js';
import { LiveCheck } from '../live/index.js';
import { openCapture } from './capture.js';
import { tokenOf } from './guard.js';
import { partOf } from './joined/part.js';
import type { CheckView, ObservationView } from './messages.js';
import { openPage, type Page } from './open.js';
import { watchInput } from './watch-source.js';
import { sourcesNamed } from '../sky/chosen-sources.js';
import { version } from '../core/program/version.js';
import type { LivePage, OpenedInput, OpenPageSettings, Say } from '../live/index.js';

const HOST = '127.0.0.1';
const PORT = 8080;

export function pageAddress(page: string | undefined): { host: string; port: number; orAny: boolean } {
  if (page === undefined) return { host: HOST, port: PORT, orAny: true };
  const parts = /^(?:(\[[^\]]+\]|[^:]+):)?(\d{1,5})$/.exec(page);
  if (!parts || Number(parts[2]) > 65_535)
    refuse('page.address', `'${page}' is no port or address`, 'write it like 8080 or 127.0.0.1:8080');
  return { host: (parts.at(1) ?? HOST).replace(/^\[|\]$/g, ''), port: Number(parts[2]), orAny: false };
}

/** Changes since the start. */
interface SteeredState {
  /** Inputs by number. */
  readonly flagged: number[];
  readonly integrationS: number;
  readonly recording: boolean;
}

/** Access to a page for the code that joins machines. */
export interface Steerable extends Pick<Page, 'url' | 'token' | 'status' | 'plan' | 'command'> {
  readonly startedUnixS: number;
  night(): ObservationView;
  /** Calls back with this machine's part of an image, about once per second. */
  onPart(machine: string, listener: (part: Uint8Array, start: Instant) => void): void;
  /** Settings that may have changed since the start; undefined before there are data. */
  steered(): SteeredState | undefined;
  bandHz(): readonly [number, number] | undefined;
}

interface RunPage extends LivePage, Closable, Steerable {}

interface Settings extends OpenPageSettings {
  readonly say: Say;
  /** Called when it can be reached. */
  readonly onOpen: (page: Page) => void;
}

/** Interval between checks of a block. */
const CHECK_S = 60;

function checkView(check: LiveCheck | undefined): CheckView | undefined {
  if (!check?.latest) return undefined;
  const { time, atMs, samples, products, differing, largest, exact, methods } = check.latest;
  return {
    time: formatInstant(time, 3),
    ageS: (performance.now() - atMs) / 1000,
    samples,
    products,
    differing,
    largest,
    exact,
    methodsDiffer: methods?.difference,
    checked: check.checked,
    failed: check.failed,
  };
}

/** Undefined if no page is wanted; data that are not in real time have a page only on request. */
export async function openRunPage(input: OpenedInput, settings: Settings): Promise<RunPage | undefined> {
  const { observation, backend, stop, say } = settings;
  const { address, names, 'token-file': tokenFile } = observation.page ?? {};
  if (address === false || (address === undefined && !input.isLive)) return undefined;
  const out = observation.products.flatMap((one) => ('visibilities' in one ? [one.visibilities] : [])).at(0);
  const folder = typeof out === 'string' ? dirname(out) : '.';
  const { ring, losses } = input;
  const page = await openPage({
    ...pageAddress(address),
    names,
    alarmUrl: observation.page?.['alarm-url'],
    token: tokenFile === undefined ? undefined : await tokenOf(tokenFile),
    journal: typeof out === 'string' ? join(folder, 'journal.jsonl') : undefined,
    receiver: {
      losses,
      setEpoch: input.setEpoch,
      capture: input.listening && openCapture(input.listening, folder),
    },
    facts: {
      description: input.description,
      backend: `${backend.kind}: ${backend.description}`,
      version: version(),
      isLive: input.isLive,
      folder,
      packets: input.packets?.bind(input),
      ring,
      losses: losses && (() => losses.now()),
    },
    stop,
    say,
  });
  settings.onOpen(page);
  let check: LiveCheck | undefined;
  let share: ((sky: SkyImage) => void) | undefined;
  return {
    url: page.url,
    token: page.token,
    startedUnixS: page.state.startedUnixS,
    night: () => page.state.minutes.view(),
    plan: () => page.plan(),
    steered: () => {
      if (!page.status().steerable) return undefined;
      const { steering } = page.state.begun?.shown ?? {};
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
      const { frequenciesHz } = page.state.begun?.shown ?? {};
      return frequenciesHz && [frequenciesHz[0], frequenciesHz[frequenciesHz.length - 1]];
    },
    command: (name, body, who, mode) => page.command(name, body, who, mode),
    look: async (spectra) => {
      await check?.look(spectra);
    },
    // Only the stream epochs are wrapped; the methods stay bound to the input.
    input: Object.assign(Object.create(input) as OpenedInput, watchInput(input, page.state)),
    watcher: {
      session: (source) => {
        page.state.session(source);
      },
      integration: async (integration) => {
        page.state.integration(integration);
        await page.reImager.work();
      },
      image: (sky) => {
        page.state.image(sky);
        share?.(sky);
      },
      beams: (product, seen) => {
        page.state.beamLevels.take(product, seen);
      },
    },
    gainsEvents: page.gainsEvents,
    arrived: (start, durationS) => {
      page.state.block(start, durationS, 1);
    },
    begin: (begun) => {
      const { shown, channelWidthHz, spectrumRateHz, sources: names = 'all', files, gains, picture } = begun;
      const named = sourcesNamed(names === 'all' ? 'all' : names.split(',').map((one) => one.trim()));
      const { telescope, frequenciesHz, steering, imaging } = shown;
      page.state.begin({
        ...{ shown, sources: named, files, channelWidthHz, spectrumRateHz },
        picture: imaging && picture,
      });
      const isChecked = observation.machine?.['self-check'] !== false;
      check = isChecked
        ? new LiveCheck(
            {
              backend,
              telescope,
              frequenciesHz,
              everyS: CHECK_S,
              // Images of spectra tracked to a position would have it at their centre.
              ...(imaging && shown.isTracked !== true && { image: imaging.image }),
            },
            ({ methods }) => {
              if (methods) page.state.showMethods(methods);
            },
          )
        : undefined;
      page.check(() => checkView(check));
      if (!steering) return;
      if (!begun.isSteered) {
        page.showGains(steering);
        return;
      }
      page.steer({
        steering,
        telescope,
        gains,
        hasFiles: files !== undefined,
        loadGains: async (name) =>
          gainsOverTime(await readGainFile(name), name, telescope, frequenciesHz, 'live'),
      });
    },
    file: (event) => {
      page.state.file(event);
    },
    close: async () => {
      await check?.close();
      await page.close();
    },
  };
}
