/** A capture on the page of corella view: its packets through the chain of a night, as fast as they are worked through. */
import type { Backend } from '../../backend/backend.js';
import type { LiveSettings } from '../../pipeline/live/chain.js';
import { runNight } from '../../pipeline/live/night.js';
import { watchInput, type Page } from '../../serve/index.js';
import { findSources } from '../../sky/sources.js';
import { selectStations } from '../../telescope/select.js';
import type { ChannelOptions } from '../options/channel-options.js';
import { openLiveInput, telescopeOf, type InputOptions, type OpenedInput, type Say } from './input.js';
import { steeringOf } from './page.js';
import { delayRequest } from '../options/track-options.js';
import { imagingOf, planFront } from './plans.js';

export interface CaptureOptions extends ChannelOptions {
  readonly telescope?: string;
  readonly stations?: number;
  readonly format?: string;
  readonly epoch?: string;
  readonly rate?: number;
  readonly frequency?: number;
  /** From one image to the next, and of each integration. */
  readonly image: number;
  /** Degrees round the zenith; the whole sky unless given. */
  readonly field?: number;
}

const BLOCK_S = 0.25;

export const openCaptureInput = (path: string, options: CaptureOptions, say: Say): Promise<OpenedInput> => {
  const { telescope, format, epoch, rate, frequency } = options;
  const given: InputOptions = {
    from: path,
    blockS: BLOCK_S,
    ...(telescope !== undefined && { telescope }),
    ...(format !== undefined && { format }),
    ...(epoch !== undefined && { epoch }),
    ...(rate !== undefined && { rate }),
    ...(frequency !== undefined && { frequency }),
  };
  return openLiveInput([], given, say);
};

/** Until the capture is at its end. */
export async function showCapture(
  page: Page,
  input: OpenedInput,
  options: CaptureOptions & { readonly gains?: string },
  backend: Backend,
): Promise<void> {
  const { stations, image: everyS, gains, field } = options;
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
      const whole = input.telescope;
      const telescope = telescopeOf(
        source,
        whole && stations !== undefined ? selectStations(whole, stations) : whole,
        input.description,
      );
      // Cables of the telescope's own.
      const front = { telescope, delays: await delayRequest({}, telescope) };
      const { channels, spectra } = await planFront(source, options, front, BLOCK_S);
      const { frequenciesHz, channelWidthHz, grid } = spectra;
      const imaging = await imagingOf(
        {
          image: everyS,
          kernel: 5,
          weight: 'natural',
          ...(gains !== undefined && { gains }),
          ...(field !== undefined && { field }),
        },
        telescope,
        frequenciesHz,
      );
      const settings: LiveSettings = {
        ...{ ...front, backend, frequenciesHz, integrationS: everyS, align: 'utc', imaging },
        flaggedInputs: new Uint8Array(source.inputs),
        ...(channels && { channels }),
      };
      const steering = steeringOf(settings);
      const live: LiveSettings = { ...settings, steering };
      page.state.begin({
        live,
        channelWidthHz,
        spectrumRateHz: grid.spectrumRateHz,
        sources: findSources('all'),
      });
      page.showGains(steering);
      return { live };
    },
  });
}
