/** Stokes fractions of sources, as given by the user: NAME:Q:U:V. */
import { refuse } from '../core/errors.js';
import { checkedStokes, plainName, type Source } from './source.js';

/** The same sources, with the Stokes fractions given by the user. `where`: the field or option, for errors. */
export function polarise(
  sources: readonly Source[],
  wishes: readonly string[],
  where: string,
): readonly Source[] {
  return wishes.reduce<readonly Source[]>((all, wish) => {
    const [name, ...numbers] = wish.split(':');
    if (numbers.length !== 3)
      refuse(where, `'${wish}' is not understood`, 'write NAME:Q:U:V, like CygA:0.1:0:0');
    const [q, u, v] = numbers.map((text) => fraction(text, where));
    refuseUnlessNamed(all, name, where);
    return all.map((source) =>
      isNamed(source, name)
        ? { ...source, stokes: checkedStokes(`source ${source.name}`, { q, u, v }) }
        : source,
    );
  }, sources);
}

export const isNamed = (source: Source, name: string): boolean => plainName(source.name) === plainName(name);

export function refuseUnlessNamed(sources: readonly Source[], name: string, where: string): void {
  if (!sources.some((source) => isNamed(source, name)))
    refuse(
      where,
      `'${name}' is not among the sources`,
      `name one of ${sources.map((source) => source.name).join(', ')}`,
    );
}

function fraction(text: string, where: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value)
    ? value
    : refuse(where, `'${text}' is not understood`, 'give a plain number, like 0.1');
}
