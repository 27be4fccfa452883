import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { Page, ROOT, tables, unquoted } from '../support/markdown.ts';

const ALERTS = join(ROOT, 'ops/alerts.yaml');
const alerts = readFileSync(ALERTS, 'utf8');
const dashboard = JSON.parse(readFileSync(join(ROOT, 'ops/grafana.json'), 'utf8')) as {
  panels: { id: number; title: string; type: string; targets?: { expr: string }[] }[];
};
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

const SUFFIXES = /_(?:bucket|count|sum)$/;

/** The names in `text` that metrics have, without those that a histogram adds. */
function namesIn(text: string): readonly string[] {
  const names = text.match(/\b(?:barid|nodejs|process)_[a-z0-9_]+/g) ?? [];
  return [...new Set(names.map((name) => name.replace(SUFFIXES, '')))].sort();
}

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool)
  console.warn('promtool is not installed (Debian: prometheus): ops/alerts.yaml is not checked by it');

describe('the files for Prometheus and Grafana', () => {
  const known = () =>
    new Set(
      createMetrics()
        .registry.getMetricsAsArray()
        .map(({ name }) => name),
    );

  it('ops/alerts.yaml names only metrics that exist', () => {
    const names = namesIn(alerts);
    expect(names.length).toBeGreaterThan(8);
    expect(names.filter((name) => !known().has(name))).toEqual([]);
  });

  it('ops/grafana.json names only metrics that exist', () => {
    const names = namesIn(expressions.join('\n'));
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !known().has(name))).toEqual([]);
  });

  it('the check of names finds a metric that does not exist', () => {
    const names = namesIn('sum(rate(barid_no_such_metric_count[5m]))');
    expect(names.filter((name) => !known().has(name))).toEqual(['barid_no_such_metric']);
  });

  it('ops/grafana.json shows every metric of ours but those that only alerts and people need', () => {
    const shown = namesIn(expressions.join('\n'));
    const ours = [...known()].filter((name) => name.startsWith('barid_'));
    expect(ours.filter((name) => !shown.includes(name)).sort()).toEqual([
      'barid_build_info',
      'barid_job_batch_duration_seconds',
      'barid_survey_failures_total',
    ]);
  });

  it('every panel has an id and a title of its own', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    expect(new Set(dashboard.panels.map(({ title }) => title)).size).toBe(dashboard.panels.length);
  });

  it('docs/monitoring.md says what to do about every alert, in the order of the file', () => {
    const [rows = []] = tables(new Page('docs/monitoring.md').section('## Alerts'));
    const named = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    expect(rows.map(([name]) => unquoted(name))).toEqual(named);
  });

  it.skipIf(!hasPromtool)('promtool accepts ops/alerts.yaml', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', ALERTS], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('SUCCESS');
  });
});
