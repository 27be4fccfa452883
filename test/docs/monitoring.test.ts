import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { Page, tables, unquoted } from '../support/markdown.ts';

interface Described {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

describe('docs/monitoring.md', () => {
  it('docs/monitoring.md lists every metric of ours with its labels and its help', () => {
    const { registry, ...ours } = createMetrics();
    const described = Object.values(ours).map((metric) => {
      const { name, help, labelNames = [] } = metric as unknown as Described;
      return [name, labelNames.map((label) => `\`${label}\``).join(', ') || 'none', help];
    });
    const [rows = []] = tables(new Page('docs/monitoring.md').section('## Metrics'));
    expect(rows.map(([name, labels, help]) => [unquoted(name), labels, help])).toEqual(described);
    expect(registry.getMetricsAsArray().length).toBeGreaterThan(described.length);
  });
});
