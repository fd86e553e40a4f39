/** Calibrates and images a file of visibilities: observations of one product, whose result is returned. */
import type { GainsFile } from '../formats/index.js';
import type { ObservationInput } from '../observation/index.js';
import type { SolvedGains, WideProductOptions, WideSkyImage } from '../visibilities/index.js';
import { observe, type Item, type ObserveOptions } from './observe.js';

type ProductInput = ObservationInput['products'][number];
/** The fields of a product, without its output path. */
type FieldsOf<Name extends string> = Omit<Extract<ProductInput, Readonly<Record<Name, unknown>>>, Name>;
/** The parts of an observation beside its source and products: telescope, flags, gains, machine. */
export type ObservationSettings = Partial<Omit<ObservationInput, 'corella' | 'source' | 'products'>> &
  ObserveOptions;

async function only<Kind extends Item['kind']>(
  path: string,
  product: ProductInput,
  kind: Kind,
  { into, onProgress, onNote, ...beside }: ObservationSettings,
): Promise<Extract<Item, { readonly kind: Kind }>> {
  const asked = {
    ...beside,
    corella: 1,
    source: { visibilities: path },
    products: [product],
  } as ObservationInput;
  const run = observe(asked, { into, onProgress, onNote });
  let made: Extract<Item, { readonly kind: Kind }> | undefined;
  for await (const item of run) if (item.kind === kind) made = item as Extract<Item, { readonly kind: Kind }>;
  await run.done;
  if (!made) throw new Error(`no ${kind} were made`);
  return made;
}

/** Solves the gains of a file of visibilities: gains in the form of a gain file, and all facts on the solution. */
export async function calibrate(
  path: string,
  fields: FieldsOf<'gains'> = {},
  beside: ObservationSettings = {},
): Promise<{ readonly gains: GainsFile; readonly solved: SolvedGains }> {
  const { gains, solved } = await only(path, { gains: null, ...fields }, 'gains', beside);
  return { gains, solved };
}

/** Images a file of visibilities: the image, and the facts that `write` stores in its file. */
export async function image(
  path: string,
  fields: FieldsOf<'images'> = {},
  beside: ObservationSettings = {},
): Promise<{ readonly image: WideSkyImage; readonly about: WideProductOptions }> {
  const made = await only(path, { images: null, ...fields }, 'wide-images', beside);
  return { image: made.image, about: made.about };
}
