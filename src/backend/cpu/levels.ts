/** Instruction-set levels of the native library: a chain for each architecture, each level including those below it. */
import { refuse } from '../../core/errors.js';

/** In the order of the library's numbers (native.h). */
const chains = {
  x64: ['portable', 'avx2', 'avx512', 'amx'],
  arm64: ['portable', 'dotprod', 'i8mm'],
} as const;
export type Isa = (typeof chains)[keyof typeof chains][number];

export const isaTitles = {
  portable: 'portable C++',
  avx2: 'AVX2',
  avx512: 'AVX-512 VNNI',
  amx: 'AMX int8 and AVX-512',
  dotprod: 'NEON with dot products',
  i8mm: 'NEON with int8 matrices',
} satisfies Record<Isa, string>;

/** Lowest first; an architecture without a chain has only portable code. */
export const levelsOf = (architecture: string): readonly Isa[] =>
  Object.entries(chains).find(([name]) => name === architecture)?.[1] ?? ['portable'];

/** A level's place in its chain, the library's number for it. */
export const isaNumber = (isa: Isa): number =>
  Math.max(...Object.values(chains).map((chain: readonly Isa[]) => chain.indexOf(isa)));

/** All levels up to the best, lowest first. */
export const levelsUpTo = (best: Isa): readonly Isa[] =>
  Object.values(chains)
    .find((chain: readonly Isa[]) => chain.includes(best))
    ?.slice(0, isaNumber(best) + 1) ?? [best];

export function parseIsa(where: string, text: string, architecture: string = process.arch): Isa {
  const levels = levelsOf(architecture);
  const isa = levels.find((name) => name === text);
  if (isa !== undefined) return isa;
  const home = Object.entries(chains).find(([, chain]) => chain.some((name) => name === text))?.[0];
  return refuse(
    where,
    home === undefined
      ? `'${text}' is not an instruction set`
      : `'${text}' is an instruction set of ${home}, and this processor is ${architecture}`,
    `choose ${levels.join(', ')}`,
  );
}

/** The levels of a library on this processor. */
interface LevelsPresent {
  readonly best: Isa;
  readonly levels: readonly Isa[];
}

/**
 * The requested level, by option or by CORELLA_ISA, or else the best; refused where the processor or the library lacks
 * it.
 */
export function chooseIsa(
  { best, levels }: LevelsPresent,
  asked: Isa | undefined,
  environment = process.env.CORELLA_ISA,
  architecture: string = process.arch,
): Isa {
  const fromEnvironment =
    environment === undefined || environment === ''
      ? undefined
      : parseIsa('CORELLA_ISA', environment, architecture);
  const isa = asked ?? fromEnvironment ?? best;
  const where = asked === undefined ? 'CORELLA_ISA' : 'cpu';
  const fix = `choose ${levels.join(', ')}`;
  if (!levelsUpTo(best).includes(isa)) refuse(where, `this processor has no ${isaTitles[isa]}`, fix);
  if (!levels.includes(isa))
    refuse(
      where,
      `the native library was compiled without ${isaTitles[isa]}`,
      `${fix}, or compile all levels: npm run build in a clone, CORELLA_LEVELS=all npm rebuild corella elsewhere`,
    );
  return isa;
}
