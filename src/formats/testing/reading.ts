/** Reads small recordings completely, for the tests. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { elementsPerSpectra, elementsPerVoltage } from '../../core/axes.js';
import type { SpectraGap, VoltageGap } from '../../core/gaps.js';
import type { Instant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import type { Format, OpenedFile, OpenOptions, SpectraRecording, VoltageRecording } from '../format.js';

const folder = temporaryFolder('formats');
let files = 0;

export function writeSample(bytes: Uint8Array, extension = '.sample'): string {
  const path = join(folder, `${files++}${extension}`);
  writeFileSync(path, bytes);
  return path;
}

export interface WholeRecording {
  readonly recording: VoltageRecording | SpectraRecording;
  /** values[row][element]: row is input (voltages) or channel·inputs + input (spectra). */
  readonly values: number[][];
  /** As listed by the blocks, from the recording's start. */
  readonly gaps: (VoltageGap | SpectraGap)[];
  readonly starts: Instant[];
}

export function expectRecording(file: OpenedFile): VoltageRecording | SpectraRecording {
  if (file.kind === 'visibilities') throw new Error('holds visibilities');
  return file;
}

export async function readWhole(
  format: Format,
  bytes: Uint8Array,
  options: OpenOptions & { readonly blockSamples?: number; readonly extension?: string } = {},
): Promise<WholeRecording> {
  return readRecording(
    expectRecording(await format.open(writeSample(bytes, options.extension), options)),
    options.blockSamples ?? 1000,
  );
}

export async function readRecording(
  recording: VoltageRecording | SpectraRecording,
  blockSamples: number,
): Promise<WholeRecording> {
  const rows = recording.inputs * (recording.kind === 'spectra' ? recording.channels : 1);
  const per =
    recording.kind === 'spectra' ? elementsPerSpectra(recording.type) : elementsPerVoltage(recording.type);
  const values = Array.from({ length: rows }, (): number[] => []);
  const gaps: (VoltageGap | SpectraGap)[] = [];
  const starts: Instant[] = [];
  let done = 0;
  try {
    for await (const block of recording.blocks(blockSamples)) {
      const elements = 'voltages' in block ? block.voltages : block.spectra;
      for (let row = 0; row < rows; row++) {
        values[row].push(...elements.subarray(row * block.samples * per, (row + 1) * block.samples * per));
      }
      for (const gap of block.gaps) {
        gaps.push({ ...gap, firstSample: gap.firstSample + done, endSample: gap.endSample + done });
      }
      starts.push(block.start);
      done += block.samples;
    }
  } finally {
    await recording.close();
  }
  return { recording, values, gaps, starts };
}
