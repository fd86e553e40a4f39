/** Stokes fractions of sources, as a user gives them: NAME:Q:U:V. */
import { refuse } from '../core/errors.js';
import { checkedStokes, type Source } from './source.js';

/** The same sources, some of them with the Stokes fractions that the user gave. `where`: the field or option, for errors. */
export function polarise(
  sources: readonly Source[],
  wishes: readonly string[],
  where: string,
): readonly Source[] {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[\s_-]/g, '');
  return wishes.reduce<readonly Source[]>((all, wish) => {
    const [name, ...numbers] = wish.split(':');
    if (numbers.length !== 3)
      refuse(where, `'${wish}' is not understood`, 'write NAME:Q:U:V, like CygA:0.1:0:0');
    const [q, u, v] = numbers.map((text) => fraction(text, where));
    if (!all.some((source) => plain(source.name) === plain(name)))
      refuse(
        where,
        `'${name}' is not among the sources`,
        `name one of ${all.map((source) => source.name).join(', ')}`,
      );
    return all.map((source) =>
      plain(source.name) === plain(name)
        ? { ...source, stokes: checkedStokes(`source ${source.name}`, { q, u, v }) }
        : source,
    );
  }, sources);
}

function fraction(text: string, where: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value)
    ? value
    : refuse(where, `'${text}' is not understood`, 'give a plain number, like 0.1');
}
