/** Instruction-set levels of the native library; each holds all below it. */
import { refuse } from '../../core/errors.js';

/** In the order of the numbers that the library knows them by (native.h). */
export const isaNames = ['portable', 'avx2', 'avx512', 'amx'] as const;
export type Isa = (typeof isaNames)[number];

export const isaTitles = {
  portable: 'portable C++',
  avx2: 'AVX2',
  avx512: 'AVX-512 VNNI',
  amx: 'AMX int8 and AVX-512',
} satisfies Record<Isa, string>;

export const isaNumber = (isa: Isa): number => isaNames.indexOf(isa);

/** All levels up to the best, lowest first. */
export const levelsUpTo = (best: Isa): readonly Isa[] => isaNames.slice(0, isaNumber(best) + 1);

export function parseIsa(where: string, text: string): Isa {
  const isa = isaNames.find((name) => name === text);
  return isa ?? refuse(where, `'${text}' is not an instruction set`, `choose ${isaNames.join(', ')}`);
}

/** The level asked for, by option or by CORELLA_ISA, or else the best; refused where the processor lacks it. */
export function chooseIsa(best: Isa, asked: Isa | undefined, environment = process.env.CORELLA_ISA): Isa {
  const fromEnvironment =
    environment === undefined || environment === '' ? undefined : parseIsa('CORELLA_ISA', environment);
  const isa = asked ?? fromEnvironment ?? best;
  if (isaNumber(isa) > isaNumber(best)) {
    refuse(
      asked === undefined ? 'CORELLA_ISA' : 'cpu',
      `this processor has no ${isaTitles[isa]}`,
      `choose ${levelsUpTo(best).join(', ')}`,
    );
  }
  return isa;
}
