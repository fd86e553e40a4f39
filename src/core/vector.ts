/** Three numbers in one frame; the frame is given where the vector is named (ENU, J2000, ECEF). */
export interface Vector3 {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

export const dot = (a: Vector3, b: Vector3): number => a.x * b.x + a.y * b.y + a.z * b.z;
export const cross = (a: Vector3, b: Vector3): Vector3 => ({
  x: a.y * b.z - a.z * b.y,
  y: a.z * b.x - a.x * b.z,
  z: a.x * b.y - a.y * b.x,
});
export const scale = (a: Vector3, factor: number): Vector3 => ({
  x: a.x * factor,
  y: a.y * factor,
  z: a.z * factor,
});
export const normalise = (a: Vector3): Vector3 => scale(a, 1 / Math.sqrt(dot(a, a)));
