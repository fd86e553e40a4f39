/** From a gains product and the known properties of the data to a plan: checks all before data are read. */
import { withDefaults, type Filled } from '../../fields/index.js';
import { gains as gainsFields } from '../gains.js';
import type { Product } from '../registry.js';
import { refuse } from '../../core/errors.js';
import type { CrossHanded, IterationRule } from '../../calibrate/index.js';
import type { VisibilityHeader } from '../../formats/index.js';
import {
  baselineLength,
  diffuseSky,
  modelElement,
  solvingModel,
  stokesFrameOf,
  type BaselineLength,
  type IntegrationChoice,
  type SolvingModel,
  type StokesFrame,
} from '../../stages/index.js';
import { beamOfTelescope } from '../../sky/beams/registry.js';
import { parseSources, type ChosenSources } from '../../sky/chosen-sources.js';
import { outsideDiscs, type SkyDisc } from '../../sky/discs.js';
import type { Telescope } from '../../telescope/telescope.js';
import { refuseUnplaced } from '../../telescope/unplaced.js';
import { refuseFollowingAll } from '../looks.js';
import { checkFull, findStation } from './checks.js';
import { crossHandAfter, parseCrossHand, type CrossHandChoice } from './cross-hand.js';

/** Properties of the integrations known before they are read: from a file, or from a run that makes them. */
interface SolvedData {
  readonly path: string;
  readonly header: VisibilityHeader;
  readonly telescope: Telescope;
}

interface GainSettings {
  /** The observation's gains product; its paths are used by the writer. */
  readonly product: Product<'gains'>;
  /** Telescope with the station positions; by default the file's own. */
  readonly telescope?: Telescope;
  /** Which of several targets to use. */
  readonly target?: string;
  /** Which part of the file to use; by default as many integrations as the rotation of the sky allows. */
  readonly integration?: IntegrationChoice;
  /** Sources inside them are left out of the model. */
  readonly discs?: readonly SkyDisc[];
}

export interface GainsPlan {
  readonly asked: Filled<typeof gainsFields>;
  readonly integration: IntegrationChoice;
  readonly header: VisibilityHeader;
  /** With the mount of the feeds for the model; without one if the data are not in the frame of the feeds. */
  readonly telescope: Telescope;
  /** The Stokes frame of the data. */
  readonly data: StokesFrame;
  readonly sources: ChosenSources;
  readonly iterations: IterationRule;
  readonly referenceStation?: number;
  readonly crossHand?: CrossHandChoice;
  /** Applied to each finished solution. */
  readonly afterwards: (found: CrossHanded) => CrossHanded;
  readonly model: SolvingModel;
  readonly minBaseline?: BaselineLength;
  /** The name of the model's beam; none if it has none. */
  readonly element: string;
}

export async function planGains(
  data: SolvedData,
  { product, telescope: placed = data.telescope, target, integration, discs = [] }: GainSettings,
): Promise<GainsPlan> {
  const asked = withDefaults(gainsFields, product);
  const { header, path } = data;
  const { frequenciesHz } = header;
  refuseContrary(asked, integration);
  const crossHand = asked['cross-hand'] === undefined ? undefined : parseCrossHand(asked['cross-hand']);
  checkFull({ polarisation: asked.polarisation, crossHand, over: asked.over }, header);
  const { telescope: own, frame } = stokesFrameOf(placed, header, asked.feeds);
  const telescope: Telescope = frame.kind === 'feeds' ? own : { ...own, mount: undefined };
  refuseUnplaced(path, telescope, 'a model of the sky does not determine them');
  const element = modelElement(asked.element, telescope);
  refuseFollowingAll(element, target);
  const minBaseline =
    asked['min-baseline'] === undefined
      ? undefined
      : baselineLength(asked['min-baseline'], 'products.gains.min-baseline');
  const diffuse =
    asked.diffuse === undefined ? undefined : diffuseSky(asked.diffuse, 'products.gains.diffuse');
  const { tolerance } = asked;
  return {
    asked,
    integration: integration ?? 'sum',
    header,
    telescope,
    data: frame,
    crossHand,
    minBaseline,
    sources: outsideDiscs(parseSources(asked.sources), discs),
    iterations:
      asked.iterations === undefined
        ? { kind: 'until', tolerance, most: asked['most-iterations'] }
        : { kind: 'fixed', count: asked.iterations, tolerance },
    referenceStation:
      asked.reference === undefined ? undefined : findStation(asked.reference, telescope.stations),
    afterwards: await crossHandAfter(crossHand, telescope, frequenciesHz),
    model: solvingModel({ element, diffuse, minBaseline }, telescope, frequenciesHz),
    element: (element ?? beamOfTelescope(telescope))?.name ?? 'none',
  };
}

function refuseContrary(asked: GainsPlan['asked'], integration: IntegrationChoice | undefined): void {
  if (asked['delays-out'] !== undefined && asked.over !== 'delay')
    refuse('products.gains.delays-out', 'needs delays to write', 'add products.gains.over: delay');
  if (asked.every !== undefined && integration !== undefined)
    refuse(
      'source.integration',
      'chooses one part of the file, and products.gains.every uses all of it',
      'leave it out',
    );
}
