/** A range of inputs and samples that never arrived. Half-open; times are samples from the start of the block. */
export interface VoltageGap {
  readonly firstInput: number;
  readonly endInput: number;
  readonly firstSample: number;
  readonly endSample: number;
}

export interface SpectraGap extends VoltageGap {
  readonly firstChannel: number;
  readonly endChannel: number;
}
