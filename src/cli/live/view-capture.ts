/** A capture on the page of corella view: its packets through the live chain, as fast as they are processed. */
import type { Backend } from '../../backend/backend.js';
import {
  openLiveInput,
  planLive,
  resolveLive,
  steeringOf,
  telescopeOf,
  type OpenedInput,
  type Say,
} from '../../live/index.js';
import { checkObservation, type Observation } from '../../observation/index.js';
import { type LiveSettings, runNight } from '../../live/index.js';
import { watchInput, type Page } from '../../serve/index.js';
import { findSources } from '../../sky/sources.js';
import { loadTelescope } from '../../telescope/load.js';
import { selectStations } from '../../telescope/select.js';
import type { ChannelOptions } from '../options/channel-options.js';

export interface CaptureOptions extends ChannelOptions {
  readonly telescope?: string;
  readonly stations?: number;
  readonly format?: string;
  readonly epoch?: string;
  readonly rate?: number;
  readonly frequency?: number;
  /** From one image to the next, and of each integration. */
  readonly image: number;
  /** Degrees round the zenith; the whole sky by default. */
  readonly field?: number;
  readonly gains?: string;
}

const BLOCK_S = 0.25;

/** What the options of view ask for. */
function observationOf(capture: string, options: CaptureOptions): Observation {
  const { telescope, stations, format, epoch, rate, frequency, image, field, gains } = options;
  const { channels, filter, taps, window, bits, gain, passband, coefficients } = options;
  return resolveLive(
    checkObservation(
      {
        ...{ corella: 1, telescope, stations, source: { capture, format, epoch, rate, frequency } },
        front: {
          ...{ channels, filter, taps, gain, passband, coefficients, window, bits },
        },
        gains: gains === undefined ? undefined : { file: gains },
        products: [
          { visibilities: null, integration: image },
          { images: null, every: image, field },
        ],
      },
      'view',
    ),
  );
}

export async function openCaptureInput(
  path: string,
  options: CaptureOptions,
  say: Say,
): Promise<OpenedInput> {
  const observation = observationOf(path, options);
  const { telescope: name, stations } = observation;
  const whole = name === undefined ? undefined : await loadTelescope(name);
  const telescope = whole && stations !== undefined ? selectStations(whole, stations) : whole;
  return openLiveInput({ observation, telescope, blockS: BLOCK_S, say });
}

/** Until the capture is at its end. */
export async function showCapture(
  page: Page,
  input: OpenedInput,
  path: string,
  options: CaptureOptions,
  backend: Backend,
): Promise<void> {
  const observation = observationOf(path, options);
  await runNight({
    input: watchInput(input, page.state),
    onEvent: () => undefined,
    watcher: {
      session: (source) => {
        page.state.session(source);
      },
      integration: (integration) => {
        page.state.integration(integration);
      },
      image: (sky) => {
        page.state.image(sky);
        page.state.keepSpectra(sky);
      },
    },
    prepare: async (source) => {
      const { description } = input;
      const telescope = telescopeOf(source, input.telescope, description);
      const machine = { backend, blockS: BLOCK_S, description, data: 'wait' } as const;
      const { settings, spectra } = await planLive(observation, source, telescope, machine);
      const steering = steeringOf(settings);
      const live: LiveSettings = { ...settings, steering };
      page.state.begin({
        live,
        channelWidthHz: spectra.channelWidthHz,
        spectrumRateHz: spectra.grid.spectrumRateHz,
        sources: findSources('all'),
      });
      page.showGains(steering);
      return { live };
    },
  });
}
