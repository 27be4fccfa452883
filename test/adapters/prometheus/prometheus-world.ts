import { prometheusInstrument } from '../../../src/bootstrap/instruments/prometheus.ts';

const LOOPBACK = '127.0.0.1';

/** Metrics on a free port. */
export function aPrometheus() {
  const build = { version: '1.2.3', commit: null };
  const instrument = prometheusInstrument({ port: 0, host: LOOPBACK, role: 'all', build });
  const scrape = async (path = '/metrics') => fetch(`http://${LOOPBACK}:${instrument.listeningOn()}${path}`);
  return {
    instrument,
    scrape,
    /** Every sample that is not of Node or the process, by its name and labels. */
    samples: async (): Promise<ReadonlyMap<string, number>> => samplesOf(await (await scrape()).text()),
  };
}

export function samplesOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith('barid_'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}
