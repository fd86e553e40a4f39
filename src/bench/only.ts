/** Selects cases by their parameters; the error lists the valid ones if none matches. */
import { refuse } from '../core/errors.js';
import type { BenchCase, Parameters } from './bench.js';

interface Parametric {
  readonly parameters: Parameters;
}

export interface KernelCases<Case extends Parametric = BenchCase> {
  readonly kernel: string;
  readonly cases: readonly Case[];
}

const WHERE = '--only';

/** `channels=4096,taps=8` as names and values. */
export function parseOnly(text: string): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>();
  for (const part of text.split(',')) {
    const [name, value, ...more] = part.split('=').map((word) => word.trim());
    if (!name || !value || more.length > 0) {
      refuse(WHERE, `'${part}' is not name=value`, 'give for example --only channels=4096,taps=8');
    }
    if (wanted.has(name)) refuse(WHERE, `${name} is given twice`, 'give one value for each parameter');
    wanted.set(name, value);
  }
  return wanted;
}

/** The cases with every requested value; kernels without one are left out. */
export function pickCases<Case extends Parametric>(
  kernels: readonly KernelCases<Case>[],
  wanted: ReadonlyMap<string, string>,
): readonly KernelCases<Case>[] {
  const all = kernels.flatMap(({ cases }) => cases.map(({ parameters }) => parameters));
  if (all.length === 0) return [];
  for (const [name, value] of wanted) refuseUnlessKnown(all, name, value, kernels);
  const picked = kernels
    .map(({ kernel, cases }) => ({
      kernel,
      cases: cases.filter(({ parameters }) =>
        [...wanted].every(([name, value]) => name in parameters && String(parameters[name]) === value),
      ),
    }))
    .filter(({ cases }) => cases.length > 0);
  if (picked.length === 0 && wanted.size > 0) {
    const words = [...wanted].map(([name, value]) => `${name}=${value}`).join(' and ');
    refuse(WHERE, `no case has ${words} together`, 'run without --only to see all of them');
  }
  return picked;
}

function refuseUnlessKnown(
  all: readonly Parameters[],
  name: string,
  value: string,
  kernels: readonly KernelCases<Parametric>[],
): void {
  const withIt = all.filter((parameters) => name in parameters);
  if (withIt.length === 0) {
    const names = [...new Set(all.flatMap((parameters) => Object.keys(parameters)))];
    const whose = kernels.map(({ kernel }) => kernel).join(', ');
    refuse(WHERE, `${whose} has no parameter '${name}'`, `choose ${names.join(', ')}`);
  }
  const values = [...new Set(withIt.map((parameters) => String(parameters[name])))];
  if (!values.includes(value)) {
    values.sort((a, b) => Number(a) - Number(b)); // words keep their order
    refuse(WHERE, `no case has ${name}=${value}`, `choose ${values.join(', ')}`);
  }
}
