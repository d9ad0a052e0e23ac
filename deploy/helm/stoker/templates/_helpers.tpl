{{- define "stoker.labels" -}}
app.kubernetes.io/name: stoker
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "stoker.configuration" -}}
{{ .Values.existingConfiguration | default (printf "%s-stoker-configuration" .Release.Name) }}
{{- end -}}

{{- define "stoker.database" -}}
{{ .Values.database.existingSecret | default (printf "%s-stoker-database" .Release.Name) }}
{{- end -}}

{{- /* What APIs and engines have in common. "root" is the context of the chart. */ -}}
{{- define "stoker.pod" -}}
metadata:
  labels:
    {{- include "stoker.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  annotations:
    # A changed configuration restarts the processes.
    stoker/configuration: {{ .root.Values.configuration | sha256sum }}
    {{- with .root.Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 40
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: {type: RuntimeDefault}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          app.kubernetes.io/instance: {{ .root.Release.Name }}
          app.kubernetes.io/component: {{ .component }}
  containers:
    - name: {{ .component }}
      image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args:
        {{- toYaml .arguments | nindent 8 }}
      env:
        - name: STOKER_DATABASE
          valueFrom:
            secretKeyRef:
              name: {{ include "stoker.database" .root }}
              key: url
      ports:
        {{- toYaml .ports | nindent 8 }}
      startupProbe:
        httpGet: {path: /healthcheck, port: health}
        periodSeconds: 2
        # A start may bring the tables of an earlier release up to date.
        failureThreshold: 300
      readinessProbe:
        httpGet: {path: /healthcheck, port: health}
        periodSeconds: 5
        timeoutSeconds: 10
      livenessProbe:
        tcpSocket: {port: health}
        periodSeconds: 10
      resources:
        {{- toYaml .resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: configuration, mountPath: /etc/stoker, readOnly: true}
        - {name: temporary, mountPath: /tmp}
  volumes:
    - name: configuration
      secret:
        secretName: {{ include "stoker.configuration" .root }}
        defaultMode: 0440
    - name: temporary
      emptyDir: {}
  {{- with .root.Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
