/** Runs a module's shared cases on one backend: opened once for all of them, some skipped with a reason. */
import { after, before, describe, it } from 'node:test';
import type { Backend } from './backend.js';

export interface CaseOptions {
  /** Names of cases left out, each with the reason. */
  readonly skip?: Readonly<Record<string, string>>;
}

export type AddCase = (name: string, run: () => Promise<void>) => void;

/** `backend` returns the open backend while a case runs. */
export function backendCases(
  title: string,
  open: () => Promise<Backend>,
  { skip = {} }: CaseOptions,
  cases: (theCase: AddCase, backend: () => Backend) => void,
): void {
  describe(title, () => {
    let backend: Backend;
    before(async () => {
      backend = await open();
    });
    after(() => backend.close());
    const theCase: AddCase = (name, run) => {
      it(name, { skip: skip[name] ?? false }, run);
    };
    cases(theCase, () => backend);
  });
}
