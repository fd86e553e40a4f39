/** Telescope presets: one JSON description and one CSV of positions each in data/, one line here. */
export const presets = {
  lwasv: 'lwasv.json',
  lwa1: 'lwa/lwa1.json',
  lwana: 'lwa/lwana.json',
  'ovro-lwa': 'lwa/ovro-lwa.json',
  eda2: 'eda2.json',
  aavs2: 'aavs2.json',
  aavs3: 'ska-low/aavs3.json',
  's8-1': 'ska-low/s8-1.json',
  's8-6': 'ska-low/s8-6.json',
  's9-2': 'ska-low/s9-2.json',
  's10-3': 'ska-low/s10-3.json',
  mwa128: 'mwa128.json',
  'mwa2-compact': 'mwa/mwa2-compact.json',
  'mwa2-extended': 'mwa/mwa2-extended.json',
  mwa3: 'mwa/mwa3.json',
  hera350: 'hera350.json',
  meerkat: 'dishes/meerkat.json',
  'vla-a': 'dishes/vla-a.json',
  'vla-b': 'dishes/vla-b.json',
  'vla-c': 'dishes/vla-c.json',
  'vla-d': 'dishes/vla-d.json',
  'tart-mg-tana': 'tart/tart-mg-tana.json',
  'tart-nz-dunedin': 'tart/tart-nz-dunedin.json',
  'tart-mu-belair': 'tart/tart-mu-belair.json',
} as const satisfies Record<string, string>;

/** The presets, as accepted by `loadTelescope`. */
export const telescopeNames = (): readonly string[] => Object.keys(presets);
