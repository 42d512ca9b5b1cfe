# rowan.framework: memories of recurrent steps, as the design documents name them.
from rowan_cpp import add_to, tensor
