import type { Logger } from '../../application/ports/logger.ts';
import type { Config } from '../config/config.ts';
import type { Instrument } from '../instrument.ts';
import type { BuildVersion } from '../version.ts';

/** The instruments that are configured. The code of the others is not loaded. */
export async function loadInstruments(
  { metrics, traces, role }: Pick<Config, 'metrics' | 'traces' | 'role'>,
  build: BuildVersion,
  logger: Logger,
): Promise<readonly Instrument[]> {
  const instruments: Instrument[] = [];
  if (metrics !== null) {
    const { prometheusInstrument } = await import('./prometheus.ts');
    instruments.push(prometheusInstrument({ ...metrics, role, build }));
  }
  if (traces !== null) {
    const { openTelemetryInstrument } = await import('./opentelemetry.ts');
    instruments.push(openTelemetryInstrument({ ...traces, version: build.version, role, logger }));
  }
  return instruments;
}
