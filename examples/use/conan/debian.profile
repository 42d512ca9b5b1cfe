# What Debian has installed, for Conan: the versions are asked of dpkg whenever the profile is read.
include(default)

[settings]
compiler.cppstd=20

[platform_requires]
{% for name in ("xtensor", "xtensor-blas", "nanopb") %}
{% set version = os.popen("dpkg-query -W -f '${source:Upstream-Version}' lib" ~ name ~ "-dev 2>/dev/null").read() %}
{% if version %}
{{ name }}/{{ version }}
{% endif %}
{% endfor %}
