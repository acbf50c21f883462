import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, it } from "node:test";
import { image, imageCommand, imageFiles, instructionsOf, read, root, settingNames, yaml } from "./ops.ts";

const manifest = JSON.parse(read("package.json"));
/** The command of `npm start`. */
const start: string[] = manifest.scripts.start.split(" ");
const [compose] = yaml("ops/compose/compose.yaml");
const [kustomization] = yaml("ops/kubernetes/kustomization.yaml");
const kubernetes: any[] = kustomization.resources.flatMap((file: string) => yaml(`ops/kubernetes/${file}`));
const ofKind = (kind: string) => kubernetes.find((object) => object.kind === kind);
const unit = read("ops/systemd/stock-and-order-graphql.service")
  .replaceAll(/\\\n\s*/g, "")
  .split("\n")
  .filter((line) => /^\w/.test(line));
const ofUnit = (name: string) =>
  unit.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1));

const assertSettings = (names: Iterable<string>) => {
  const unknown = [...names].filter((name) => !settingNames.has(name));
  assert.deepEqual(unknown, [], "not declared in src/process/settings/");
};
const secondsOf = (text: string): number => Number(/^(\d+)s$/.exec(text)![1]);
/** Seconds that a stop takes at most. */
const stopSeconds = (stopDelay: number) => stopDelay + 10;

describe("the image", () => {
  it("has the Node of package.json, runs what npm start runs, and copies what there is", () => {
    assert.match(read("Containerfile"), new RegExp(`node:${manifest.dependencies.node}-`));
    assert.deepEqual(imageCommand, start);
    const missing = imageFiles.filter((file) => !file.includes("*") && !existsSync(join(root, file)));
    assert.deepEqual(missing, []);
    const ignored = read(".containerignore").split("\n");
    assert.deepEqual(
      imageFiles.filter((file) => !ignored.includes(`!${file}`)),
      [],
    );
  });

  it("compiles with the flags that it runs with, as the user who serves, who isn't root", () => {
    const compiling = image.filter(
      ({ name, text }) => name === "RUN" && text.startsWith("node bin/erp.js compile"),
    );
    assert.equal(compiling.length, 1);
    assert.match(read("bin/erp.js"), /\["start", "compile"\]\.includes/);
    const users = new Set(image.filter(({ name }) => name === "USER").map(({ text }) => text));
    assert.deepEqual([...users], ["10001:10001"]);
  });

  it("sets settings that there are, and opens their ports", () => {
    const [variables] = image.filter(({ name }) => name === "ENV").map(({ text }) => text);
    const values = new Map(variables!.split(" ").map((pair) => pair.split("=") as [string, string]));
    assertSettings(values.keys());
    const ports = image.find(({ name }) => name === "EXPOSE")!.text;
    assert.equal(ports, `${values.get("PORT")} ${values.get("METRICS_PORT")}`);
  });
});

describe("the compose file", () => {
  const services = Object.entries<any>(compose.services);
  const ours = services.filter(([, { image: name }]) => name === "stock-and-order-graphql");

  it("sets settings that there are, and its processes serve as the settings say", () => {
    for (const [, { environment }] of ours) assertSettings(Object.keys(environment));
    const serving = ours.filter(([name]) => name.startsWith("service-"));
    assert.equal(serving.length, 2);
    for (const [, service] of serving) {
      assert.match(service.healthcheck.test.at(-1), /:4000\/readyz"/);
      assert.match(service.ports[0], /^127\.0\.0\.1:\d+:4000$/);
      assert.ok(secondsOf(service.stop_grace_period) > stopSeconds(1));
    }
  });

  it("keeps every file system of ours read-only, without rights of root", () => {
    for (const [name, { read_only, cap_drop, tmpfs, privileged }] of ours)
      assert.deepEqual([read_only, cap_drop, tmpfs, privileged], [true, ["ALL"], ["/tmp"], undefined], name);
  });

  it("mounts and builds from files that there are, and waits for services that there are", () => {
    for (const [, { volumes = [], build, depends_on = {} }] of services) {
      for (const volume of volumes as string[]) {
        const [from] = volume.split(":");
        if (from!.startsWith("."))
          assert.ok(existsSync(join(root, "ops/compose", from!)), `${from} is missing`);
        else assert.ok(Object.hasOwn(compose.volumes, from!), from);
      }
      if (build) assert.ok(existsSync(join(root, "ops/compose", build.context, build.dockerfile)));
      for (const name of Object.keys(depends_on)) assert.ok(Object.hasOwn(compose.services, name), name);
    }
    const folder = "ops/compose";
    for (const { name, text } of instructionsOf(`${folder}/pgbouncer.Containerfile`))
      if (name === "COPY") assert.ok(existsSync(join(root, folder, text.split(" ").at(-2)!)), text);
  });

  it("has Prometheus ask both processes, under the name that the alerts ask for, and gives it these", () => {
    const [prometheus] = yaml("ops/compose/prometheus.yml");
    const [job] = prometheus.scrape_configs;
    assert.deepEqual(job.static_configs[0].targets, ["service-1:9100", "service-2:9100"]);
    assert.match(read("ops/alerts.yml"), new RegExp(`job="${job.job_name}"`));
    const mounted: string[] = compose.services.prometheus.volumes.map(
      (volume: string) => volume.split(":")[1],
    );
    for (const file of prometheus.rule_files) assert.ok(mounted.includes(`/etc/prometheus/${file}`), file);
    const [dashboards] = yaml("ops/compose/grafana/dashboards.yml");
    const path: string = dashboards.providers[0].options.path;
    assert.ok(compose.services.grafana.volumes.includes(`../grafana:${path}:ro`));
  });

  it("has a PgBouncer that the service can use", () => {
    const settings = read("ops/compose/pgbouncer.ini");
    assert.match(settings, /^ignore_startup_parameters = options,extra_float_digits$/m);
    const { environment } = compose.services["service-2"];
    assert.match(environment.DATABASE_URL, /@pgbouncer:6432\//);
    for (const name of ["WORKER_CONCURRENCY", "WEBHOOK_CONCURRENCY"]) assert.equal(environment[name], "0");
    assert.notEqual(environment.RATE_LIMITS_IN, "database");
  });
});

describe("the Kubernetes files", () => {
  const settings = ofKind("ConfigMap").data;
  const { spec: deployment } = ofKind("Deployment");
  const pod = deployment.template.spec;
  const [api] = pod.containers;
  const job = ofKind("Job").spec.template.spec;

  it("set settings that there are, and have passwords from secrets only", () => {
    assertSettings(Object.keys(settings));
    for (const { containers } of [pod, job])
      for (const { env } of containers) {
        assertSettings(env.map(({ name }: { name: string }) => name));
        for (const { name, value, valueFrom } of env) {
          assert.equal(value, undefined, name);
          assert.equal(valueFrom.secretKeyRef.key, name);
        }
      }
    assert.equal(
      kubernetes.some(({ kind }) => kind === "Secret"),
      false,
    );
  });

  it("probe addresses and ports that the image has", () => {
    const ports = new Map(api.ports.map(({ name, containerPort }: any) => [name, containerPort]));
    assert.equal([...ports.values()].join(" "), image.find(({ name }) => name === "EXPOSE")!.text);
    const app = read("src/http/pages.ts");
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
      const { path, port } = api[probe].httpGet;
      assert.ok(app.includes(`"${path}"`), path);
      assert.ok(ports.has(port), port);
    }
    const [{ targetPort }] = ofKind("Service").spec.ports;
    const asked = ofKind("NetworkPolicy").spec.ingress.flatMap(({ ports: open }: any) =>
      open.map(({ port }: any) => port),
    );
    assert.deepEqual([...asked, targetPort].toSorted(), ["http", "http", "metrics"]);
  });

  it("replace pods without a gap, and leave them the time that a stop takes", () => {
    assert.deepEqual(deployment.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 });
    assert.ok(deployment.replicas > ofKind("PodDisruptionBudget").spec.minAvailable);
    assert.ok(pod.terminationGracePeriodSeconds > stopSeconds(Number(settings.STOP_DELAY)));
    // A pod is out of the balancer before it stops
    const { periodSeconds, failureThreshold } = api.readinessProbe;
    assert.ok(Number(settings.STOP_DELAY) > periodSeconds * failureThreshold);
  });

  it("choose the pods that the deployment makes, and not those of the set-up", () => {
    const labels = Object.entries(deployment.template.metadata.labels);
    const chosen = [
      deployment.selector.matchLabels,
      ofKind("Service").spec.selector,
      ofKind("PodDisruptionBudget").spec.selector.matchLabels,
      yaml("ops/kubernetes/monitoring.yaml")[0].spec.selector.matchLabels,
    ];
    for (const selector of chosen) assert.deepEqual(Object.entries(selector), labels);
    assert.notDeepEqual(Object.entries(ofKind("Job").spec.template.metadata.labels), labels);
    for (const { metadata } of kubernetes) assert.match(metadata.labels.stage, /^(setup|serve)$/);
  });

  it("run everything without root, on a file system that is read-only", () => {
    for (const { securityContext, containers, volumes, automountServiceAccountToken } of [pod, job]) {
      assert.deepEqual([securityContext.runAsNonRoot, automountServiceAccountToken], [true, false]);
      for (const { securityContext: own, resources, volumeMounts, image: name } of containers) {
        assert.deepEqual(own, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        assert.ok(resources.requests.memory && resources.limits.memory);
        assert.deepEqual(volumeMounts, [{ name: volumes[0].name, mountPath: "/tmp" }]);
        assert.equal(name, kustomization.images[0].name);
      }
    }
  });
});

describe("the unit of systemd", () => {
  it("runs what npm start runs, with settings that there are", () => {
    const [program, ...given] = ofUnit("ExecStart")[0]!.split(" ");
    const folder = ofUnit("WorkingDirectory")[0]!;
    assert.equal(program, posix.join(folder, "node_modules/node/bin/node"));
    assert.deepEqual(given, [...start.slice(1), "--workers", "2"]);
    assertSettings(ofUnit("Environment").map((pair) => pair.split("=")[0]!));
    assert.ok(ofUnit("Environment").includes(`DATA_DIRECTORY=/var/lib/${ofUnit("StateDirectory")[0]}`));
    assert.ok(Number(ofUnit("TimeoutStopSec")[0]) > stopSeconds(1));
  });
});
