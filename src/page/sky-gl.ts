/** The sky on the graphics card: floats are uploaded, colours are computed there. NaN is blank. */
import { tables } from './colours.js';

const vertex = `#version 300 es
in vec2 at;
out vec2 place;
void main() { place = at; gl_Position = vec4(at, 0.0, 1.0); }`;

// Float textures cannot be filtered everywhere, so the shader interpolates the four neighbours; blanks are left out.
const fragment = `#version 300 es
precision highp float;
uniform highp sampler2D sky;
uniform sampler2D colours;
uniform float pixels;
uniform float pixelSize;
uniform float reach;
uniform vec3 stretch;
in vec2 place;
out vec4 colour;
void main() {
  // East is to the left: l grows that way. Pixel (n/2, n/2) is the middle.
  vec2 lm = vec2(-place.x, place.y) * reach;
  vec2 at = lm / pixelSize + pixels * 0.5;
  vec2 base = floor(at);
  vec2 part = at - base;
  float sum = 0.0;
  float weight = 0.0;
  for (int k = 0; k < 4; k++) {
    vec2 corner = vec2(k & 1, k >> 1);
    ivec2 texel = ivec2(base + corner);
    if (any(lessThan(texel, ivec2(0))) || any(greaterThanEqual(texel, ivec2(int(pixels))))) continue;
    float value = texelFetch(sky, texel, 0).r;
    if (value != value) continue;
    vec2 near = mix(1.0 - part, part, corner);
    sum += value * near.x * near.y;
    weight += near.x * near.y;
  }
  // What is shown of the whole sky ends at the horizon, not at the last whole pixel before it.
  if (weight < 0.001 || dot(lm, lm) > 1.0) { colour = vec4(0.0); return; }
  float fraction = clamp((sum / weight - stretch.x) / (stretch.y - stretch.x), 0.0, 1.0);
  colour = vec4(texture(colours, vec2(pow(fraction, stretch.z), 0.5)).rgb, 1.0);
}`;

interface SkyShown {
  readonly values: Float32Array;
  readonly pixels: number;
  readonly pixelSize: number;
  /** Direction cosine at the edge of the drawn area. */
  readonly reach: number;
  readonly low: number;
  readonly high: number;
  readonly exponent: number;
}

export interface SkyPainter {
  draw(shown: SkyShown): void;
}

/** Undefined if the browser has no WebGL 2. */
export function openPainter(canvas: HTMLCanvasElement): SkyPainter | undefined {
  const gl = canvas.getContext('webgl2', { preserveDrawingBuffer: true, premultipliedAlpha: false });
  if (!gl) return undefined;
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ] as const) {
    const shader = gl.createShader(kind);
    if (!shader) return undefined;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (gl.getShaderParameter(shader, gl.COMPILE_STATUS) !== true)
      throw new Error(gl.getShaderInfoLog(shader) ?? 'the sky cannot be drawn');
    gl.attachShader(program, shader);
  }
  gl.bindAttribLocation(program, 0, 'at');
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
  const where = (name: string): WebGLUniformLocation | null => gl.getUniformLocation(program, name);
  const texture = (unit: number, filter: number): void => {
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const [key, value] of [
      [gl.TEXTURE_MIN_FILTER, filter],
      [gl.TEXTURE_MAG_FILTER, filter],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    ])
      gl.texParameteri(gl.TEXTURE_2D, key, value);
  };
  texture(1, gl.LINEAR);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, tables.brightness);
  texture(0, gl.NEAREST);
  gl.uniform1i(where('sky'), 0);
  gl.uniform1i(where('colours'), 1);
  const at = {
    pixels: where('pixels'),
    pixelSize: where('pixelSize'),
    reach: where('reach'),
    stretch: where('stretch'),
  };
  let size = 0;
  return {
    draw: ({ values, pixels, pixelSize, reach, low, high, exponent }) => {
      gl.viewport(0, 0, canvas.width, canvas.height);
      if (size === pixels) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, pixels, pixels, gl.RED, gl.FLOAT, values);
      else gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32F, pixels, pixels, 0, gl.RED, gl.FLOAT, values);
      size = pixels;
      gl.uniform1f(at.pixels, pixels);
      gl.uniform1f(at.pixelSize, pixelSize);
      gl.uniform1f(at.reach, reach);
      gl.uniform3f(at.stretch, low, high, exponent);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    },
  };
}
