/** Reads a possibly damaged file to the end and checks that the result is consistent. */
import { CorellaError } from '../../core/errors.js';
import { readGainFile } from '../gains/gain-files.js';
import type { Format, OpenedFile, OpenOptions } from '../format.js';

export interface Subject {
  readonly name: string;
  readonly format: Format;
  readonly extension: string;
  readonly bytes: Uint8Array;
  readonly options: OpenOptions;
}

/** Gain files are recognised by content, without options. */
export interface GainSubject extends Omit<Subject, 'format' | 'options'> {
  readonly holds: 'gains';
}
export type AnySubject = Subject | GainSubject;

/** A damaged but plausible file may claim a great length; its first blocks are enough for the check. */
const MOST_BLOCKS = 40;
const BLOCK_SAMPLES = 300;

const claim = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(`what was read does not add up: ${what}`);
};

export const tryReading = (subject: AnySubject, path: string): Promise<'read' | 'refused'> =>
  'holds' in subject ? tryGains(path) : tryFile(subject, path);

async function tryGains(path: string): Promise<'read' | 'refused'> {
  try {
    const { stations, polarisations, frequenciesHz, gains, solved, referenceStation } =
      await readGainFile(path);
    const cells = frequenciesHz.length * stations.length * polarisations;
    claim(solved.length === cells && gains.length === 2 * cells, 'the number of gains');
    claim(referenceStation >= 0 && referenceStation < stations.length, 'the reference station');
    solved.forEach((known, at) => {
      if (known === 1)
        claim(Number.isFinite(gains[2 * at]) && Number.isFinite(gains[2 * at + 1]), 'a gain is no number');
    });
    return 'read';
  } catch (error) {
    if (error instanceof CorellaError) return 'refused';
    throw error;
  }
}

async function tryFile({ format, options }: Subject, path: string): Promise<'read' | 'refused'> {
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
