/** Software deployments on the servers of a stack, with their output. */

import type { JSX } from "preact";
import { json } from "../api/client";
import type { Deployment } from "../api/types";
import { t } from "../i18n";
import { useRead } from "../model/hooks";
import { visible } from "../model/text";
import { Empty, Failure, Loading, Status, Text, Time, Value } from "../widgets/basics";
import type { ViewProps } from "./stack";

const DEPLOYMENT = /^OS::Heat::(SoftwareDeployment|StructuredDeployment)/;
const OUTPUTS: [string, "deployments.stdout" | "deployments.stderr" | "deployments.exit"][] = [
  ["deploy_status_code", "deployments.exit"],
  ["deploy_stdout", "deployments.stdout"],
  ["deploy_stderr", "deployments.stderr"],
];

export function Deployments({ live }: ViewProps): JSX.Element {
  const own = [...live.tree.resources.values()].filter(
    (each) => DEPLOYMENT.test(each.type) && each.physicalId && !each.nested,
  );
  const states = own.map((each) => each.key + each.status).join();
  const read = useRead(
    (signal) =>
      Promise.all(
        own.map(async (each) => ({
          resource: each,
          deployment: (
            await json<{ software_deployment: Deployment }>(
              "GET",
              `/software_deployments/${encodeURIComponent(each.physicalId)}`,
              { signal },
            )
          ).software_deployment,
        })),
      ),
    [states],
  );
  if (own.length === 0) return <Empty title={t("deployments.empty")} />;
  if (read.error) return <Failure error={read.error} retry={read.reload} />;
  if (!read.value) return <Loading />;
  return (
    <div>
      {read.value.map(({ resource, deployment }) => (
        <article class="card" key={resource.key}>
          <h2>{visible(resource.name)}</h2>
          <p>
            <Status value={`${deployment.action}_${deployment.status}`} />{" "}
            <Time value={deployment.updated_time ?? deployment.creation_time} /> {t("deployments.server")}:{" "}
            <code>{visible(deployment.server_id ?? "")}</code>
          </p>
          {deployment.status_reason && (
            <p>
              <Text value={String(deployment.status_reason)} />
            </p>
          )}
          {OUTPUTS.filter(([key]) => deployment.output_values?.[key] !== undefined).map(([key, title]) => (
            <div key={key}>
              <h3>{t(title)}</h3>
              <Value value={deployment.output_values?.[key]} />
            </div>
          ))}
          <Others values={deployment.output_values ?? {}} />
        </article>
      ))}
    </div>
  );
}

function Others({ values }: { values: Record<string, unknown> }): JSX.Element {
  const known = new Set(OUTPUTS.map(([key]) => key));
  return (
    <dl class="pairs">
      {Object.entries(values)
        .filter(([name]) => !known.has(name))
        .map(([name, value]) => (
          <div key={name}>
            <dt>{visible(name)}</dt>
            <dd>
              <Value value={value} />
            </dd>
          </div>
        ))}
    </dl>
  );
}
