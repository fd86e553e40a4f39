/** The process that writes a Measurement Set, from the side of the run. */
import { fork } from 'node:child_process';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { CorellaError } from '../../../core/errors.js';

export interface WritingTask {
  readonly name: 'ms_create' | 'ms_append' | 'ms_span' | 'ms_close' | 'end';
  /** Without path and handle. */
  readonly args: readonly unknown[];
}

export interface WritingAnswer {
  /** In casacore's own words. */
  fault?: string;
}

export interface WritingProcess {
  /** Resolves when it is done; one call at a time. */
  call(name: Exclude<WritingTask['name'], 'end'>, ...args: readonly unknown[]): Promise<void>;
  /** The set is closed, complete or not. */
  end(): Promise<void>;
}

const ownProgram = new URL('./set-process.js', import.meta.url);

/** `path` is the set's final name, for errors; it is written as `growing`. */
export function startWriting(path: string, growing: string, program: URL = ownProgram): WritingProcess {
  const child = fork(program, [growing], {
    serialization: 'advanced',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  let asking: { resolve(): void; reject(error: unknown): void } | undefined;
  let gone: CorellaError | undefined;
  /** Between calls it does not keep the run alive. */
  const hold = (how: 'ref' | 'unref'): void => {
    for (const one of [child, child.channel, child.stderr as Socket | null]) one?.[how]();
  };
  const settle = (error?: unknown): void => {
    const waiting = asking;
    asking = undefined;
    hold('unref');
    if (error === undefined) waiting?.resolve();
    else waiting?.reject(error);
  };
  child.stderr?.on('data', (text: Buffer) => {
    said = (said + text.toString()).slice(-1000);
  });
  child.on('message', ({ fault }: WritingAnswer) => {
    settle(fault === undefined ? undefined : cannotWrite(path, fault));
  });
  child.on('error', (error) => {
    gone = cannotWrite(path, error.message);
    settle(gone);
  });
  const closed = new Promise<void>((done) => {
    child.on('close', (code, signal) => {
      gone ??= cannotWrite(path, `casacore's process ended by ${signal ?? `exit code ${code}`}: ${said}`);
      settle(gone);
      done();
    });
  });
  const call: WritingProcess['call'] = (name, ...args) =>
    new Promise((done, reject) => {
      if (gone) {
        reject(gone);
        return;
      }
      if (asking) throw new Error(`${path}: ${name} before the last call was answered`);
      asking = { resolve: done, reject };
      hold('ref');
      child.send({ name, args } satisfies WritingTask, (error) => {
        // What made it end is reported when it is closed.
        if (error && gone) settle(gone);
      });
    });
  hold('unref');
  return {
    call,
    end: async () => {
      if (!gone) {
        hold('ref');
        // Node reports the end of a process only where that was the one to disconnect.
        child.send({ name: 'end', args: [] } satisfies WritingTask);
        await closed;
      }
      await rm(growing, { recursive: true, force: true });
    },
  };
}

/** A set cannot be continued after a failure: some of its tables may hold the last rows. */
function cannotWrite(path: string, fault: string): CorellaError {
  const said = fault.replaceAll(/\s+/g, ' ').trim();
  const isFull = /No space left|quota exceeded/i.test(said);
  return new CorellaError({
    where: path,
    what: isFull
      ? `cannot be written: the disk of ${dirname(resolve(path))} is full; what was written of this set is removed`
      : `cannot be written by casacore (${said.slice(0, 300)}); what was written of this set is removed`,
    fix: isFull ? 'make room, or name another place' : 'write UVFITS or UVH5 instead',
    code: isFull ? 'disk.full' : 'file.unwritable',
  });
}
