/** Runs the program as a user would, for the acceptance tests. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { runProgram } from '../cli/program.js';
import { inTemporaryFolder } from '../core/testing/temporary-folder.js';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export const program = new URL('../cli/main.js', import.meta.url).pathname;

export function corella(folder: string, ...words: readonly string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...words], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code: code ?? -1, stdout, stderr });
    });
  });
}

/**
 * Runs it in this process, which saves half a second of startup each: for the many refusals, together with one in a
 * separate process.
 */
export async function corellaHere(folder: string, ...words: readonly string[]): Promise<Ran> {
  watchStreams();
  const { argv } = process;
  const before = process.cwd();
  const said = { stdout: '', stderr: '' };
  process.argv = [process.execPath, program, ...words];
  process.chdir(folder);
  try {
    const code = await speaking.run(said, runProgram);
    return { code, ...said };
  } finally {
    process.chdir(before);
    process.argv = argv;
  }
}

/** Collects the program's output while it runs here; the output of the test reporter is not affected. */
const speaking = new AsyncLocalStorage<Record<'stdout' | 'stderr', string>>();
let watched = false;

function watchStreams(): void {
  if (watched) return;
  watched = true;
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    const write = stream.write.bind(stream);
    stream.write = (chunk: string | Uint8Array): boolean => {
      const said = speaking.getStore();
      if (said === undefined) return write(chunk);
      said[name] += Buffer.from(chunk as Uint8Array).toString();
      return true;
    };
  }
}

export const withFolder = (work: (folder: string) => Promise<void>): Promise<void> =>
  inTemporaryFolder('acceptance', work);
