/** A block of a source as slots of packets. */
import type { CanonicalSpectra, VoltageBlock } from '../core/blocks.js';
import type { SpectraGap } from '../core/gaps.js';
import { fragmentRange } from '../core/presence/presence.js';
import type { StreamPlan } from '../packets/packet-format.js';

export interface Block {
  readonly elements: CanonicalSpectra['spectra'] | VoltageBlock['voltages'];
  readonly samples: number;
  readonly gaps: readonly SpectraGap[];
}

export const samplesOf = (block: CanonicalSpectra | VoltageBlock): Block =>
  'spectra' in block
    ? { elements: block.spectra, samples: block.samples, gaps: block.gaps }
    : {
        elements: block.voltages,
        samples: block.samples,
        gaps: block.gaps.map((gap) => ({ ...gap, firstChannel: 0, endChannel: 1 })),
      };

/** Gaps of the recording are not sent. */
export function isLost(
  gaps: readonly SpectraGap[],
  plan: StreamPlan,
  { sender, fragment, slot }: { readonly sender: number; readonly fragment: number; readonly slot: number },
): boolean {
  if (gaps.length === 0) return false;
  const box = fragmentRange(plan, sender, fragment);
  const [from, to] = [slot * plan.samplesPerSlot, (slot + 1) * plan.samplesPerSlot];
  return gaps.some(
    (gap) =>
      gap.firstInput < box.endInput &&
      box.firstInput < gap.endInput &&
      gap.firstChannel < box.endChannel &&
      box.firstChannel < gap.endChannel &&
      gap.firstSample < to &&
      from < gap.endSample,
  );
}
