/** Floats in a file or stream that cannot be samples. */
import type { SpectraGap } from '../../core/gaps.js';

/** No voltage is larger: the squares of its spectra would overflow float32 and become NaN. */
const LOUDEST = 1e12;

/**
 * NaN, infinities and values beyond any voltage are not samples: they become zeros, with a gap for each run of them.
 * Otherwise the processing would spread them over every product. Floats only: integers are always samples. `values` :
 * [stream][t], where a stream of spectra is a channel of an input.
 */
export function takeNoSamples(
  values: unknown,
  shape: { readonly samples: number; readonly inputs: number; readonly partsPerSample: 1 | 2 },
): SpectraGap[] {
  if (!(values instanceof Float32Array)) return [];
  const { samples, inputs, partsPerSample: parts } = shape;
  const gaps: SpectraGap[] = [];
  let open: { stream: number; firstSample: number; endSample: number } | undefined;
  const close = (): void => {
    if (!open) return;
    const { stream, firstSample, endSample } = open;
    const [firstInput, firstChannel] = [stream % inputs, Math.floor(stream / inputs)];
    gaps.push({
      firstInput,
      endInput: firstInput + 1,
      firstChannel,
      endChannel: firstChannel + 1,
      firstSample,
      endSample,
    });
    values.fill(0, (stream * samples + firstSample) * parts, (stream * samples + endSample) * parts);
    open = undefined;
  };
  for (let n = 0; n < values.length; n++) {
    if (Math.abs(values[n]) <= LOUDEST) continue;
    const at = Math.floor(n / parts);
    const [stream, sample] = [Math.floor(at / samples), at % samples];
    if (open?.stream !== stream || open.endSample < sample) {
      close();
      open = { stream, firstSample: sample, endSample: sample + 1 };
    } else open.endSample = sample + 1;
  }
  close();
  return gaps;
}
