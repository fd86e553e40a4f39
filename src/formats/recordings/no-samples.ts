/** Floats of a file or a stream that no recorder can have meant. */
import type { SpectraGap } from '../../core/gaps.js';

/** Louder is no voltage of anyone's: the squares of its spectra would pass what float32 holds, and come out as no numbers. */
const LOUDEST = 1e12;

/**
 * What is no number, or beyond all numbers that voltages have, never was a sample: zeros, and a gap for each run of them. The
 * chain after this would spread it over every product. Of floats alone: whole numbers always are. `values` : [stream][t], a
 * stream of spectra being a channel of an input.
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
      ...{ firstInput, endInput: firstInput + 1, firstChannel, endChannel: firstChannel + 1 },
      ...{ firstSample, endSample },
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
