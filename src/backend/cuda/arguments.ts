/**
 * The arguments of a kernel as TypeScript passes them; `npm run check:cuda` compares them with the kernels themselves.
 */

/** Byte offsets of a structure's fields, and its size. */
export type StructureLayout = Readonly<Record<string, number>> & { readonly bytes: number };

/**
 * An argument in the order of the kernel's signature; `bytes` reserves space for an argument other than an integer or
 * an address, with its C type in `type`.
 */
export type ArgumentKind =
  | 'i32'
  | 'i64'
  | 'pointer'
  | {
      readonly bytes: number;
      readonly align: number;
      readonly type?: string;
      readonly layout?: StructureLayout;
    };

/** A structure that a kernel takes by value, by its C name. */
export const structure = (type: string, layout: StructureLayout) =>
  ({ type, layout, bytes: layout.bytes, align: 8 }) as const;
