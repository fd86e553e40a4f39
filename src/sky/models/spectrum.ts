/** Spectra of components: a flux at a reference frequency and its frequency dependence. */

interface SpectrumTerms {
  readonly fluxJy: number;
  readonly referenceHz: number;
  readonly terms: readonly number[];
  /**
   * `logarithmic`: log₁₀(S/S₀) = Σ cₖ·log₁₀(f/f₀)ᵏ, a spectral index, its curvature and so on. `ordinary`: S = S₀ + Σ
   * cₖ·(f/f₀ − 1)ᵏ, as fitted by WSClean. k counts from 1.
   */
  readonly kind: 'logarithmic' | 'ordinary';
}

export const fluxOf =
  ({ fluxJy, referenceHz, terms, kind }: SpectrumTerms) =>
  (frequencyHz: number): number => {
    const x = kind === 'logarithmic' ? Math.log10(frequencyHz / referenceHz) : frequencyHz / referenceHz - 1;
    const sum = terms.reduceRight((rest, term) => (rest + term) * x, 0);
    return kind === 'logarithmic' ? fluxJy * 10 ** sum : fluxJy + sum;
  };

/** A power law between two frequencies, and beyond them from the two nearest; a straight line if signs differ. */
export function joined(
  points: readonly { readonly frequencyHz: number; readonly fluxJy: number }[],
): (frequencyHz: number) => number {
  return (frequencyHz) => {
    const above = points.findIndex((one) => one.frequencyHz >= frequencyHz);
    const upper = above < 0 ? points.length - 1 : Math.max(1, above);
    const [one, other] = [points[upper - 1], points[upper]];
    const ratio = other.fluxJy / one.fluxJy;
    if (!(ratio > 0 && Number.isFinite(ratio))) {
      const part = (frequencyHz - one.frequencyHz) / (other.frequencyHz - one.frequencyHz);
      return one.fluxJy + (other.fluxJy - one.fluxJy) * part;
    }
    const index = Math.log(ratio) / Math.log(other.frequencyHz / one.frequencyHz);
    return one.fluxJy * (frequencyHz / one.frequencyHz) ** index;
  };
}
