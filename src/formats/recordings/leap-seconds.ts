/** Where the readers of files look for it; packets need it too. */
export * from '../../core/clock/leap-seconds.js';
