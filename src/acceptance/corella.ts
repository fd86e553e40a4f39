/** Runs the program as a user would, for the acceptance tests. */
import { spawn } from 'node:child_process';
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

export const withFolder = (work: (folder: string) => Promise<void>): Promise<void> =>
  inTemporaryFolder('acceptance', work);
