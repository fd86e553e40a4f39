/** A capture on the page: its packets pass through the live chain as fast as they are processed. */
import type { Backend } from '../../backend/backend.js';
import {
  LiveProducts,
  openLiveInput,
  planLive,
  runEpochs,
  shownOf,
  steeringOf,
  telescopeOf,
  type OpenedInput,
  type Say,
} from '../../live/index.js';
import type { Observation } from '../../observation/index.js';
import { findSources } from '../../sky/sources.js';
import { loadTelescope } from '../../telescope/load.js';
import { selectStations } from '../../telescope/select.js';
import type { Page } from '../open.js';
import { watchInput } from '../watch-source.js';

const BLOCK_S = 0.25;

export async function openShownCapture(observation: Observation, say: Say): Promise<OpenedInput> {
  const { telescope: name, stations } = observation;
  const whole = name === undefined ? undefined : await loadTelescope(name);
  const telescope = whole && stations !== undefined ? selectStations(whole, stations) : whole;
  return openLiveInput({ observation, telescope, blockS: BLOCK_S, say });
}

/** Until the end of the capture. */
export async function showCapture(
  page: Page,
  input: OpenedInput,
  observation: Observation,
  backend: Backend,
): Promise<void> {
  await runEpochs({
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
      const plan = await planLive(observation, source, telescope, machine);
      const { spectra } = plan;
      const steering = steeringOf(plan);
      const context = { backend, plan, steering };
      page.state.begin({
        shown: shownOf(context),
        channelWidthHz: spectra.channelWidthHz,
        spectrumRateHz: spectra.grid.spectrumRateHz,
        sources: findSources('all'),
      });
      page.showGains(steering);
      return { products: new LiveProducts(context) };
    },
  });
}
