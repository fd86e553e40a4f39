/** Reads a possibly damaged file to the end and checks that what comes out adds up. */
import { CorellaError } from '../../core/errors.js';
import type { Format, OpenedFile, OpenOptions } from '../format.js';

export interface Subject {
  readonly name: string;
  readonly format: Format;
  readonly extension: string;
  readonly bytes: Uint8Array;
  readonly options: OpenOptions;
}

/** A damaged but plausible file may promise much; what it holds in the first blocks is enough to judge. */
const MOST_BLOCKS = 40;
const BLOCK_SAMPLES = 300;

const claim = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(`what was read does not add up: ${what}`);
};

export async function tryReading({ format, options }: Subject, path: string): Promise<'read' | 'refused'> {
  let file: OpenedFile | undefined;
  try {
    file = await format.open(path, options);
    if (file.kind === 'visibilities') {
      let count = 0;
      for await (const integration of file.integrations()) {
        claim(integration.durationS > 0, 'the duration');
        claim(integration.visibilities.every(Number.isFinite), 'a visibility is no number');
        claim(
          integration.counts.every((value) => value >= 0),
          'a count is negative',
        );
        if (++count >= MOST_BLOCKS) return 'read';
      }
      claim(count === file.integrationCount, 'the number of integrations');
      return 'read';
    }
    let samples = 0;
    let blocks = 0;
    const outer = file.kind === 'spectra' ? file.channels : 1;
    for await (const block of file.blocks(BLOCK_SAMPLES)) {
      const elements = 'voltages' in block ? block.voltages : block.spectra;
      const per = elements.length / (outer * file.inputs * block.samples);
      for (const gap of block.gaps) {
        claim(
          gap.firstSample >= 0 && gap.firstSample < gap.endSample && gap.endSample <= block.samples,
          'a gap',
        );
        claim(gap.firstInput >= 0 && gap.firstInput < gap.endInput && gap.endInput <= file.inputs, 'a gap');
        const channel = 'firstChannel' in gap ? gap.firstChannel : 0;
        const row = (channel * file.inputs + gap.firstInput) * block.samples + gap.firstSample;
        claim(elements[row * per] === 0, 'a gap is not zero');
      }
      samples += block.samples;
      if (++blocks >= MOST_BLOCKS) return 'read';
    }
    claim(samples === file.samples, 'the number of samples');
    return 'read';
  } catch (error) {
    if (error instanceof CorellaError) return 'refused';
    throw error;
  } finally {
    await file?.close();
  }
}
