"""The kinds of Kubernetes objects that railwright names, as constants, each once."""

from railwright.core.objects import Kind

NAMESPACE = Kind("v1", "Namespace")
NODE = Kind("v1", "Node")
POD = Kind("v1", "Pod")
EVENT = Kind("v1", "Event")
CONFIG_MAP = Kind("v1", "ConfigMap")
SECRET = Kind("v1", "Secret")
SERVICE_ACCOUNT = Kind("v1", "ServiceAccount")
DAEMON_SET = Kind("apps/v1", "DaemonSet")
DEPLOYMENT = Kind("apps/v1", "Deployment")
JOB = Kind("batch/v1", "Job")
ROLE = Kind("rbac.authorization.k8s.io/v1", "Role")
ROLE_BINDING = Kind("rbac.authorization.k8s.io/v1", "RoleBinding")
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io/v1", "ClusterRole")
CLUSTER_ROLE_BINDING = Kind("rbac.authorization.k8s.io/v1", "ClusterRoleBinding")
CUSTOM_RESOURCE_DEFINITION = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")

CLUSTER_VERSION = Kind("config.openshift.io/v1", "ClusterVersion")
INFRASTRUCTURE = Kind("config.openshift.io/v1", "Infrastructure")
PROXY = Kind("config.openshift.io/v1", "Proxy")
NETWORK_CONFIG = Kind("config.openshift.io/v1", "Network")
NETWORK_OPERATOR = Kind("operator.openshift.io/v1", "Network")
SECURITY_CONTEXT_CONSTRAINTS = Kind("security.openshift.io/v1", "SecurityContextConstraints")
IMAGE_STREAM = Kind("image.openshift.io/v1", "ImageStream")

MACHINE_CONFIG = Kind("machineconfiguration.openshift.io/v1", "MachineConfig")
MACHINE_CONFIG_POOL = Kind("machineconfiguration.openshift.io/v1", "MachineConfigPool")
KUBELET_CONFIG = Kind("machineconfiguration.openshift.io/v1", "KubeletConfig")
NODE_NETWORK_CONFIGURATION_POLICY = Kind("nmstate.io/v1", "NodeNetworkConfigurationPolicy")

OPERATOR_GROUP = Kind("operators.coreos.com/v1", "OperatorGroup")
SUBSCRIPTION = Kind("operators.coreos.com/v1alpha1", "Subscription")
INSTALL_PLAN = Kind("operators.coreos.com/v1alpha1", "InstallPlan")
CLUSTER_SERVICE_VERSION = Kind("operators.coreos.com/v1alpha1", "ClusterServiceVersion")
CATALOG_SOURCE = Kind("operators.coreos.com/v1alpha1", "CatalogSource")
PACKAGE_MANIFEST = Kind("packages.operators.coreos.com/v1", "PackageManifest")

NODE_FEATURE_DISCOVERY = Kind("nfd.openshift.io/v1", "NodeFeatureDiscovery")
NODE_FEATURE_RULE = Kind("nfd.openshift.io/v1alpha1", "NodeFeatureRule")

NIC_CLUSTER_POLICY = Kind("mellanox.com/v1alpha1", "NicClusterPolicy")
MACVLAN_NETWORK = Kind("mellanox.com/v1alpha1", "MacvlanNetwork")
IPOIB_NETWORK = Kind("mellanox.com/v1alpha1", "IPoIBNetwork")
HOST_DEVICE_NETWORK = Kind("mellanox.com/v1alpha1", "HostDeviceNetwork")
NV_IPAM_IP_POOL = Kind("nv-ipam.nvidia.com/v1alpha1", "IPPool")
NV_IPAM_CIDR_POOL = Kind("nv-ipam.nvidia.com/v1alpha1", "CIDRPool")

SRIOV_OPERATOR_CONFIG = Kind("sriovnetwork.openshift.io/v1", "SriovOperatorConfig")
SRIOV_NETWORK_POOL_CONFIG = Kind("sriovnetwork.openshift.io/v1", "SriovNetworkPoolConfig")
SRIOV_NETWORK_NODE_POLICY = Kind("sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy")
SRIOV_NETWORK_NODE_STATE = Kind("sriovnetwork.openshift.io/v1", "SriovNetworkNodeState")
SRIOV_NETWORK = Kind("sriovnetwork.openshift.io/v1", "SriovNetwork")
SRIOV_IB_NETWORK = Kind("sriovnetwork.openshift.io/v1", "SriovIBNetwork")

CLUSTER_POLICY = Kind("nvidia.com/v1", "ClusterPolicy")
NVIDIA_DRIVER = Kind("nvidia.com/v1alpha1", "NVIDIADriver")

NETWORK_ATTACHMENT_DEFINITION = Kind("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition")
