/** corella channelise --response: the scalloping and leakage of a filter, with those of a plain DFT. */
import {
  filterResponse,
  planChannelise,
  type ChannelisePlan,
  type FilterResponse,
  type FilterWindow,
} from '../../channelise/index.js';
import { withMinus } from '../../core/units.js';
import { renderPng } from '../../draw/index.js';
import { responsePicture } from '../../inspect/index.js';
import { writeFileWhole, checkOutputs } from '../../formats/index.js';
import { filterOf, refuseUnsupported, type FrontPart } from '../../observation/index.js';
import type { CommonOptions } from '../options/command.js';
import { checkPngName } from '../options/outputs.js';
import { openTerminal } from '../report/terminal.js';

export interface ResponseOptions extends CommonOptions {
  readonly out?: string;
  readonly overwrite?: boolean;
}

export async function showResponse(front: FrontPart, options: ResponseOptions): Promise<void> {
  refuseUnsupported({ corella: 1, source: {}, front, products: [] }, { isLive: false });
  const { channels = 1024, coefficients, filter: named } = front;
  const filter = await filterOf(front);
  const planFor = (change: { readonly passbandChannels?: number } = {}): ChannelisePlan =>
    planChannelise({
      channels,
      ...filter,
      ...change,
      inputs: 1,
      polarisations: 1,
      // Taps of 8-bit samples are rounded to 16 bits.
      inputType: front['float-taps'] === true ? 'ci16' : 'ci8',
      outputType: 'cf32',
      blockSamples: channels,
    });
  const response = filterResponse(planFor());
  // Critically sampled channels have a trade-off: −6 dB at the edge and low leakage, or a flatter passband and more
  // leakage.
  const wider =
    front.passband === undefined && coefficients === undefined && named === undefined
      ? filterResponse(planFor({ passbandChannels: WIDER_PASSBAND }))
      : undefined;
  const out = options.out ?? 'response.png';
  checkPngName('--out', out);
  await checkOutputs({ ...options, paths: [out] });
  const { taps } = filter;
  const window = filter.window ?? DEFAULT_WINDOW;
  const shape = coefficients ?? named ?? window.kind;
  const name = `polyphase, ${taps} tap${taps === 1 ? '' : 's'}, ${shape}`;
  await writeFileWhole(
    out,
    await renderPng(
      responsePicture(channels, response, {
        name,
        wider,
        widerName: `the same, --passband ${WIDER_PASSBAND}`,
      }),
      { width: 1200 },
    ),
  );
  const filterFacts = coefficients === undefined ? { filter: named, window } : { coefficients };
  const lists = Object.fromEntries(
    Object.entries(response).map(([key, value]: [string, number | Float64Array]) => [
      key,
      typeof value === 'number' ? value : Array.from(value),
    ]),
  );
  openTerminal(options).result({ path: out, channels, taps, ...filterFacts, ...lists }, [
    `loss at a channel's edge: plain DFT ${response.dftEdgeLossDb.toFixed(2)} dB, ${name} ${response.edgeLossDb.toFixed(2)} dB`,
    // With few channels none is that far away.
    ...(channels < 7
      ? []
      : [
          `three channels from a tone between two: plain DFT ${levelAt(response, 'dftLeakageDb')} dB, ${name} ${levelAt(response, 'leakageDb')} dB`,
        ]),
    ...(channels < 3
      ? []
      : [
          `loudest beyond 1.5 channels: plain DFT ${withMinus(response.dftLeakageBeyondDb.toFixed(1))} dB, ${name} ${withMinus(response.leakageBeyondDb.toFixed(1))} dB`,
        ]),
    `noise efficiency over all channels: plain DFT 1, ${name} ${response.noiseEfficiency.toFixed(3)}`,
    ...(wider
      ? [
          `with --passband ${WIDER_PASSBAND} the edge loses ${wider.edgeLossDb.toFixed(2)} dB: a flatter top for louder neighbours`,
        ]
      : []),
    `curves drawn in ${out}; --json prints them`,
  ]);
}

const DEFAULT_WINDOW: FilterWindow = { kind: 'hann' };
const WIDER_PASSBAND = 1.25;

function levelAt(response: FilterResponse, curve: 'leakageDb' | 'dftLeakageDb'): string {
  const at = response.leakageOffsetChannels.findIndex((offset) => offset > 3);
  return withMinus(response[curve][at].toFixed(1));
}
