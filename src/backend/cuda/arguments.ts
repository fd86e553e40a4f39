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

/** Sets fields of a structure in a kernel's arguments: integers of four bytes, integers and addresses of eight. */
export function fieldsOf<Layout extends StructureLayout>(view: DataView, layout: Layout) {
  const offsets = Object.values<number>(layout).sort((x, y) => x - y);
  return (values: Readonly<Partial<Record<keyof Layout, number | bigint>>>): void => {
    for (const [name, value] of Object.entries(values as Readonly<Record<string, number | bigint>>)) {
      if (!(name in layout)) throw new Error(`the structure has no field ${name}`);
      const at = layout[name];
      const end = offsets.find((one) => one > at) ?? at;
      if (end - at < 8) view.setInt32(at, Number(value), true);
      else view.setBigInt64(at, BigInt(value), true);
    }
  };
}
