/**
 * Makes a sample in a folder beside its destination and then moves it, so that it is there completely or not at all.
 */
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { beforeEnding } from '../../core/ending.js';
import { recordDrift } from './drift.js';
import { writePayloads } from './frames.js';
import { recordHour } from './hour.js';
import { recordTart } from './tart.js';

export type Step =
  /** A command line, as typed by a user after `corella`. */
  | { readonly kind: 'command'; readonly words: readonly string[] }
  | { readonly kind: 'text'; readonly path: string; readonly text: string }
  /** An hour of visibilities by formula. */
  | { readonly kind: 'hour'; readonly path: string }
  /** Three hours of the Sun drifting over dishes. */
  | { readonly kind: 'drift'; readonly path: string; readonly telescope: string }
  /** Raw samples of a TART with true C/A codes; the antennas' positions are written beside it. */
  | { readonly kind: 'satellites'; readonly path: string }
  /** The payloads of a capture's datagrams, as a file. */
  | { readonly kind: 'payloads'; readonly capture: string; readonly path: string };

export interface Sample {
  readonly name: string;
  readonly what: string;
  /** The page that uses it. */
  readonly page: string;
  /** The remaining files, in the order of the report. */
  readonly files: readonly string[];
  readonly steps: readonly Step[];
  /** A first command to try on it. */
  readonly next: string;
}

interface Making {
  /** Runs a command line in a folder. */
  readonly command: (words: readonly string[], folder: string) => Promise<void>;
  /** History of files that are made by a formula. */
  readonly history: readonly string[];
  readonly onStep: (fraction: number, what: string) => void;
}

interface MadeFile {
  readonly path: string;
  readonly sizeBytes: number;
}

export async function makeSample(sample: Sample, folder: string, making: Making): Promise<MadeFile[]> {
  const workshop = await mkdtemp(join(folder, '.sample-'));
  const callOff = beforeEnding(() => {
    rmSync(workshop, { recursive: true, force: true });
  });
  try {
    for (const [n, step] of sample.steps.entries()) {
      making.onStep(n / sample.steps.length, stepText(step));
      await take(step, workshop, making);
    }
    const made: MadeFile[] = [];
    for (const name of sample.files) {
      const path = join(folder, name);
      await rename(join(workshop, name), path);
      made.push({ path, sizeBytes: (await stat(path)).size });
    }
    return made;
  } finally {
    callOff();
    await rm(workshop, { recursive: true, force: true });
  }
}

/** A step as text: the command line, if it is one. */
export function stepText(step: Step): string {
  switch (step.kind) {
    case 'command':
      return `corella ${step.words.join(' ')}`;
    case 'text':
      return `${step.path}, a text`;
    case 'hour':
      return `${step.path} by the formula of visibilities`;
    case 'drift':
      return `${step.path} by the formula of a drift scan`;
    case 'satellites':
      return `${step.path} of simulated satellites`;
    case 'payloads':
      return `${step.path} out of the packets of ${step.capture}`;
  }
}

async function take(step: Step, folder: string, { command, history }: Making): Promise<void> {
  switch (step.kind) {
    case 'command':
      await command(step.words, folder);
      return;
    case 'text':
      await writeFile(join(folder, step.path), step.text);
      return;
    case 'hour':
      await recordHour(join(folder, step.path), [...history]);
      return;
    case 'drift':
      await recordDrift(join(folder, step.path), join(folder, step.telescope), [...history]);
      return;
    case 'satellites':
      await recordTart(join(folder, step.path));
      return;
    case 'payloads':
      await writePayloads(join(folder, step.capture), join(folder, step.path));
      return;
  }
}
