/** Makes a sample in a folder beside where it shall lie, so that it is there whole or not at all. */
import { spawn } from 'node:child_process';
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeEnding } from '../../core/ending.js';
import { CorellaError } from '../../core/errors.js';
import { recordDrift, recordHour, recordTart, writePayloads } from '../../skies/index.js';
import { history } from '../report/history.js';
import type { Sample, Step } from './recipes.js';

const main = fileURLToPath(new URL('../main.js', import.meta.url));

export interface MadeFile {
  readonly path: string;
  readonly sizeBytes: number;
}

export async function makeSample(
  sample: Sample,
  folder: string,
  onStep: (fraction: number, what: string) => void,
): Promise<MadeFile[]> {
  const workshop = await mkdtemp(join(folder, '.sample-'));
  const callOff = beforeEnding(() => {
    rmSync(workshop, { recursive: true, force: true });
  });
  try {
    for (const [n, step] of sample.steps.entries()) {
      onStep(n / sample.steps.length, stepText(step));
      await take(step, workshop);
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

/** A step for people: the command line, where it is one. */
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

async function take(step: Step, folder: string): Promise<void> {
  switch (step.kind) {
    case 'command':
      await runCommand(step.words, folder);
      return;
    case 'text':
      await writeFile(join(folder, step.path), step.text);
      return;
    case 'hour':
      await recordHour(join(folder, step.path), history());
      return;
    case 'drift':
      await recordDrift(join(folder, step.path), join(folder, step.telescope), history());
      return;
    case 'satellites':
      await recordTart(join(folder, step.path));
      return;
    case 'payloads':
      await writePayloads(join(folder, step.capture), join(folder, step.path));
      return;
  }
}

/** In a process of its own, as if it were typed: files then say in their history how they were made. */
function runCommand(words: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...words, '--quiet'], {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (data: Buffer) => (said += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else
        reject(
          new CorellaError({
            where: `corella ${words.join(' ')}`,
            what: said.replace(/^corella: /, '').trim(),
          }),
        );
    });
  });
}
